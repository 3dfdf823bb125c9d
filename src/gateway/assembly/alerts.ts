import { AlertDelivery } from '../../admission/alerts/delivery.ts'
import type { Ledger } from '../../money/ledger/contract.ts'
import type { Observer } from '../../observe/observe.ts'
import type { GatewayOptions } from '../options/options.ts'
import type { Guard } from '../../records/guard.ts'

/** Milliseconds between two looks for alerts. */
const everyMs = 2_000

/** Creates the delivery of alerts; undefined if there is no ledger that records any. */
export function alertDelivery(
  { hooks, alerts, clock: now = Date.now }: GatewayOptions,
  ledger: Ledger | undefined,
  guard: Guard,
  observer: Observer,
): AlertDelivery | undefined {
  if (ledger?.caps === undefined) return undefined
  const { webhooks } = alerts ?? {}
  const delivery = new AlertDelivery({
    caps: ledger.caps,
    guard,
    hook: hooks?.alert,
    webhooks,
    observer,
    now,
    everyMs,
  })
  delivery.start()
  return delivery
}
