import type { GatewayOptions } from '../options/options.ts'
import { Guard } from '../../records/guard.ts'
import { Idempotency } from '../../admission/idempotency/idempotency.ts'
import { memoryIdempotencyStore } from '../../admission/idempotency/memory.ts'
import type { Observer } from '../../observe/observe.ts'

/** Creates the handling of `Idempotency-Key` from the options; undefined if it is turned off. */
export function createIdempotency(options: GatewayOptions, observer: Observer): Idempotency | undefined {
  const { idempotency = {}, storage, timeouts, clock: now = () => performance.now() } = options
  if (idempotency === false) return undefined
  const { keepMs = 86_400_000, maxBytes = 4 * 1024 * 1024, leaseMs = 30_000 } = idempotency
  return new Idempotency({
    store: storage?.idempotency ?? memoryIdempotencyStore({ clock: now }),
    guard: new Guard({
      name: 'the idempotency store',
      timeoutMs: timeouts?.storeMs ?? 2_000,
      now,
      failed: observer.storeFailed,
    }),
    keepMs,
    maxBytes,
    leaseMs,
    observer,
  })
}
