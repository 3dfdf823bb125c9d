import type { Groups } from '../../models/group-fields.ts'
import { isRegistry, type GatewayOptions } from '../options/options.ts'
import type { Stores } from './stores.ts'
import type { Observer } from '../../observe/observe.ts'
import { Admission } from '../../admission/admission.ts'
import { AlertDelivery } from '../../admission/alerts/delivery.ts'
import type { Ledger } from '../../money/ledger/contract.ts'
import type { Guard } from '../../records/guard.ts'
import { AnswerCache } from '../../admission/cache/answer-cache.ts'
import { Idempotency } from '../../admission/idempotency/idempotency.ts'
import { memoryIdempotencyStore } from '../../admission/idempotency/memory.ts'

/** Creates the admission of a gateway from its options and stores. */
export function createAdmission(
  options: GatewayOptions,
  stores: Stores,
  groups: Groups,
  observer: Observer,
): Admission {
  const {
    models,
    registry,
    billing = {},
    prices,
    limits: limitOptions = {},
    usage: usageOptions = {},
    storage,
    timeouts,
  } = options
  const { limits, ledger, usage } = stores
  const currency = options.billing?.currency ?? prices?.currency
  return new Admission({
    groups,
    limits,
    limitOptions,
    modelRates: isRegistry(models) || registry !== undefined || Object.values(models).some((entry) => 'rate' in entry),
    ledger,
    admission: storage?.admission,
    billing,
    currency,
    dollarRate: dollarRateOf(prices?.rate, currency),
    usage,
    usageOptions,
    timeoutMs: timeouts?.storeMs ?? 2_000,
    now: options.clock ?? (() => performance.now()),
    time: options.clock ?? Date.now,
    observer,
  })
}

function dollarRateOf(rate: string | undefined, currency: string = 'USD'): number | undefined {
  return rate === undefined ? (currency === 'USD' ? 1 : undefined) : Number(rate)
}

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

/** Creates the cache of answers from the options; undefined if there is none. `idempotency`: whose store it shares by default. */
export function createCache(
  { cache, storage, clock: now = () => performance.now() }: GatewayOptions,
  idempotency: Idempotency | undefined,
  observer: Observer,
  guard: Guard,
): AnswerCache | undefined {
  if (cache === undefined) return undefined
  const shared = idempotency?.store ?? storage?.idempotency
  const store = cache.store ?? shared ?? memoryIdempotencyStore({ clock: now })
  return new AnswerCache(cache, { store, guard, observer, isShared: store === idempotency?.store })
}

/** Creates the handling of `Idempotency-Key` from the options; undefined if it is turned off. */
export function createIdempotency(
  { idempotency = {}, storage, clock: now = () => performance.now() }: GatewayOptions,
  observer: Observer,
  guard: Guard,
): Idempotency | undefined {
  if (idempotency === false) return undefined
  const { keepMs = 86_400_000, maxBytes = 4 * 1024 * 1024, leaseMs = 30_000, resumeMs = 0 } = idempotency
  return new Idempotency({
    store: storage?.idempotency ?? memoryIdempotencyStore({ clock: now }),
    guard,
    keepMs,
    maxBytes,
    leaseMs,
    resumeMs,
    observer,
  })
}
