/** The parts of a gateway, made from its options. */
import { Admin } from '../admin/admin.ts'
import type { Admission } from '../admission/admission.ts'
import { Authenticator } from '../auth/authenticate.ts'
import type { Parts } from '../endpoints/endpoint.ts'
import { Serving } from '../endpoints/serving.ts'
import { Heartbeat } from '../http/heartbeat.ts'
import { OpenCalls } from '../http/open-calls.ts'
import { defaultSizes, type Sizes } from '../http/sizes.ts'
import type { Idempotency } from '../idempotency/idempotency.ts'
import { Catalogue } from '../models/access.ts'
import { providersOf, staticRegistry } from '../models/registry.ts'
import { Observer } from '../observing/observe.ts'
import { isRegistry, type GatewayOptions } from '../options/options.ts'
import { Breaker } from '../routing/breaker.ts'
import { Guard } from '../store-access/guard.ts'
import { createAdmission } from './admission.ts'
import type { Closing } from './close.ts'
import { createIdempotency } from './idempotency.ts'
import { guardedResponses } from './responses.ts'
import { storesOf, type Stores } from './stores.ts'
import { videoTasks } from './video-tasks.ts'

export interface Assembly {
  readonly admin: Admin
  readonly admission: Admission
  readonly authenticator: Authenticator
  readonly calls: OpenCalls
  readonly catalogue: Catalogue
  /** Undefined where the options turn it off. */
  readonly idempotency: Idempotency | undefined
  readonly observer: Observer
  readonly parts: Parts
  readonly serving: Serving
  readonly sizes: Sizes
  readonly stores: Stores
  /** Closed with the gateway. */
  readonly owned: readonly Closing[]
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds, monotonic; only differences count. */
  readonly ticks: () => number
}

export function assemble(options: GatewayOptions): Assembly {
  const { models, groups = { default: { models: '*' } }, clock: now = Date.now, random = Math.random } = options
  const { authenticate, billing, keyCache: cache, timeouts = {}, publicUrl = '' } = options
  const ticks = options.clock ?? (() => performance.now())
  const stores = storesOf(options, now)
  const { ledger } = stores
  const observer = new Observer(options.hooks)
  const admission = createAdmission(options, stores, groups, observer)
  const idempotency = createIdempotency(options, observer)
  const endsCalls = options.whenKeyEnds === 'end'
  const authenticator = new Authenticator({
    store: stores.keys,
    authenticate,
    endsCalls,
    cache,
    timeoutMs: timeouts.authMs,
    now,
  })
  const priced = billing !== undefined && billing.unpriced !== 'free'
  const registry = isRegistry(models) ? models : staticRegistry(models, { now, priced })
  const catalogue = new Catalogue(registry, groups)
  const guard = guarding(timeouts.storeMs ?? 2_000)
  const admin = new Admin({
    ...stores,
    catalogue,
    groups: Object.keys(groups),
    guard,
    pageGuard: guarding(timeouts.pageMs ?? 30_000),
    minimumTopUp: billing?.minimumTopUp ?? '1',
    now,
    forget: (hash) => authenticator.forget(hash),
  })
  const serving = new Serving({
    retry: options.retry ?? {},
    timeouts,
    breaker: new Breaker(options.breaker ?? {}, ticks),
    heartbeat: new Heartbeat(timeouts.keepAliveMs ?? 15_000),
    random,
    observer,
  })
  const parts = {
    responses: guardedResponses(stores.responses, guard('the response store')),
    videos: videoTasks({ options, catalogue, admission, ledger, clock: now, random, observer }),
    publicUrl: publicUrl.replace(/\/*(?:\/v1)?\/*$/, ''),
    stallMs: timeouts.stallMs ?? 60_000,
  }
  const providers = isRegistry(models) ? [] : providersOf(models)
  const owned = [authenticator, idempotency, ...Object.values(stores), registry, ...providers]
  return {
    admin,
    admission,
    authenticator,
    calls: new OpenCalls(billing?.maxDrains),
    catalogue,
    idempotency,
    observer,
    parts,
    serving,
    sizes: { ...defaultSizes, ...options.sizes },
    stores,
    owned: owned.filter((part) => part !== undefined),
    now,
    ticks,
  }
}

/** Makes guards with a common timeout. */
function guarding(timeoutMs: number): (name: string) => Guard {
  return (name) => new Guard({ name, timeoutMs, now: () => performance.now() })
}
