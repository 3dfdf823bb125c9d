/** The parts of a gateway, made from its options. */
import { Admin } from '../../admin/admin.ts'
import { AuditLog } from '../../admin/audit/audit-log.ts'
import type { AdminServices } from '../../admin/services.ts'
import type { Admission } from '../../admission/admission.ts'
import type { Meter } from '../../admission/meter.ts'
import type { AnswerCache } from '../../admission/cache/answer-cache.ts'
import { Authenticator } from '../../callers/authenticate.ts'
import type { Batches } from '../../endpoints/batches/batches.ts'
import type { EndpointServices } from '../../endpoints/endpoint.ts'
import { Routes } from '../../endpoints/routes.ts'
import { Serving } from '../../endpoints/serving.ts'
import { Heartbeat } from '../../http/heartbeat.ts'
import { OpenCalls } from '../../http/open-calls.ts'
import { defaultSizes, type Sizes } from '../../http/sizes.ts'
import type { Idempotency } from '../../admission/idempotency/idempotency.ts'
import { Catalogue } from '../../models/catalogue.ts'
import type { Model } from '../../models/contract.ts'
import { OwnKeys } from '../../models/own-keys.ts'
import { VendorKeyVault } from '../../models/vendor-keys/vault.ts'
import type { LiveRegistry } from '../../models/stored/live-registry.ts'
import { PriceTableDefaults } from '../../models/price-table-defaults.ts'
import type { ContentLog } from '../../observe/content/content-log.ts'
import { Observer } from '../../observe/observe.ts'
import type { GatewayOptions } from '../options/options.ts'
import { Breaker } from '../../routing/breaker.ts'
import { VendorQueues } from '../../routing/queue/queues.ts'
import { attemptOrder } from '../../routing/attempt-order.ts'
import { Guard } from '../../records/guard.ts'
import { attributing } from '../../observe/usage/attribution.ts'
import { RefusedLog } from '../../observe/usage/refused-log.ts'
import type { AlertDelivery } from '../../admission/alerts/delivery.ts'
import { shownPrices } from './shown-prices.ts'
import { createAdmission, alertDelivery, createCache, createIdempotency } from './admission.ts'
import type { Closing } from './close.ts'
import { contentParts } from './content.ts'
import { inspecting } from './inspecting.ts'
import { KnownDeployments } from './known-deployments.ts'
import { modelsOf } from './models.ts'
import { StoreChecks } from './store-checks.ts'
import { storeQuestions, type StoreQuestion } from './store-questions.ts'
import { quoting } from '../handling/quote.ts'
import { guardedResponses, guardedStores, storesOf, type Stores } from './stores.ts'
import { vendorQuestions } from './vendor-questions.ts'
import { backgroundResponses, settling } from './background.ts'
import { batchesFor } from './batches.ts'
import { videoTasks } from './video-tasks.ts'
import { warningsIn } from '../warnings/find.ts'
import type { ConfigWarning } from '../../records/warning.ts'
import type { Provider } from '../../providers/contract.ts'
import type { UsageStore } from '../../observe/usage/contract.ts'

export interface Assembly {
  readonly admin: Admin
  readonly admission: Admission
  /** Whether requests of one conversation go to the same deployment. */
  readonly affinity: boolean
  /** Undefined if nothing records alerts. */
  readonly alerts: AlertDelivery | undefined
  readonly authenticator: Authenticator
  readonly breaker: Breaker
  /** Those of each kind. */
  readonly batches: readonly Batches[]
  /** Undefined if answers are not kept for equal requests. */
  readonly cache: AnswerCache | undefined
  readonly calls: OpenCalls<Meter>
  /** Undefined if no content is kept. */
  readonly content: ContentLog | undefined
  readonly catalogue: Catalogue
  readonly checks: StoreChecks
  readonly deployments: KnownDeployments
  /** Undefined where the options turn it off. */
  readonly idempotency: Idempotency | undefined
  /** Models that administration changes. Undefined if it does not. */
  readonly live: LiveRegistry | undefined
  readonly observer: Observer
  readonly services: EndpointServices
  readonly routes: Routes
  /** Undefined if refused requests are not recorded. */
  readonly refused: RefusedLog | undefined
  readonly serving: Serving
  readonly sizes: Sizes
  readonly questions: readonly StoreQuestion[]
  /** To the vendors of the models in the options. */
  readonly vendorQuestions: readonly Pick<StoreQuestion, 'name' | 'ask'>[]
  /** Likely mistakes in the options. */
  readonly warnings: () => readonly ConfigWarning[]
  /** Closed with the gateway. */
  readonly owned: readonly Closing[]
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds, monotonic; only differences count. */
  readonly ticks: () => number
}

/** `replay`: asks a model what was asked in a call; not called before the gateway is made. */
export function assemble(options: GatewayOptions, replay: AdminServices['replay']): Assembly {
  const { clock: now = Date.now, random = Math.random } = options
  const { authenticate, billing, keyCache: cache, timeouts = {}, publicUrl = '' } = options
  const ticks = options.clock ?? (() => performance.now())
  const stores = storesOf(options, now)
  const { ledger } = stores
  const observer = new Observer(options.hooks, options.telemetry, options.logger)
  const guarding = guardsOf(observer)
  const guard = guarding(timeouts.storeMs ?? 2_000)
  const tableDefaults = options.prices && new PriceTableDefaults(options.prices)
  const registryGuard = guard('the registry of models')
  const { registry, live, groups, providers, own } = modelsOf(options, stores, tableDefaults, registryGuard)
  const admission = createAdmission(options, stores, groups, observer)
  const idempotency = createIdempotency(options, observer, guard('the idempotency store'))
  const answerCache = createCache(options, idempotency, observer, guard('the cache of answers'))
  const endsCalls = options.whenKeyEnds === 'end'
  const authenticator = new Authenticator({
    store: stores.keys,
    authenticate,
    keyInQuery: options.keyInQuery,
    endsCalls,
    cache,
    timeoutMs: timeouts.authMs,
    now,
    failed: observer.storeFailed,
  })
  const priced = billing !== undefined && billing.unpriced !== 'free'
  const vault = vaultOf(options, stores, guard('the store of vendor keys'), providers, ticks)
  const ownKeys = options.ownKeys && new OwnKeys(options.ownKeys, vault?.known)
  const catalogue = new Catalogue(registry, groups, {
    now,
    tableDefaults,
    datedPrices: live,
    requiresPrice: priced,
    ownKeys,
  })
  const alerts = alertDelivery(options, ledger, guard('the ledger'), observer)
  const surroundings = { options, catalogue, admission, ledger, clock: now, random, observer, alerts, guard }
  const videos = videoTasks(surroundings)
  const responses = guardedResponses(stores.responses, guard('the response store'))
  const settle = settling(surroundings, guard('the ledger'))
  const background = backgroundResponses({ ...surroundings, responses, settle })
  const { kinds: batches, endpoints: ofBatches } = batchesFor({ ...surroundings, settle })
  const content = contentParts(options, stores, guarding((timeouts.storeMs ?? 2_000) * 5), observer)
  const auditLog = new AuditLog(stores.audit, guard('the audit log'), now)
  const calls = new OpenCalls<Meter>(billing?.maxDrains)
  const admin = new Admin({
    ...guardedStores(stores, idempotency?.store, guard, guarding(timeouts.pageMs ?? 30_000)),
    vault,
    content,
    replay,
    auditLog,
    note: (change) => auditLog.write(undefined, change),
    idempotencyMs: idempotency?.keepMs ?? 0,
    background,
    batches,
    videos,
    calls,
    caps: admission.caps,
    settlements: admission.settlements,
    catalogue,
    groups: () => Object.keys(groups),
    registry: live && stores.registry && { live, store: stores.registry, guard: registryGuard },
    prices: options.prices,
    reports: options.reports ?? {},
    hasCosts: options.prices !== undefined || own === undefined || live !== undefined || hasCosts(own),
    currency: billing?.currency,
    minimumTopUp: billing?.minimumTopUp ?? '1',
    now,
    failed: observer.failed,
    forget: (hash) => authenticator.forget(hash),
  })
  const breaker = new Breaker(options.breaker ?? {}, ticks, (change) => observer.breaker(change))
  const refusals = options.storage?.limits && { store: stores.limits, guard: guard('the limit store') }
  const serving = new Serving({
    retry: options.retry ?? {},
    timeouts,
    breaker,
    heartbeat: new Heartbeat(timeouts.keepAliveMs ?? 15_000),
    random,
    observer,
    queues: options.fairness && new VendorQueues(options.fairness, groups, refusals),
  })
  const routes = new Routes([...ofBatches, ...(options.endpoints ?? [])])
  const sizes = { ...defaultSizes, ...options.sizes }
  const quote = quoting({ options, routes, admission, catalogue, sizes, services: () => services, now })
  const services: EndpointServices = {
    quote,
    shownPrice: billing?.showPrices === true ? shownPrices(admission, billing.currency) : undefined,
    responses,
    background,
    videos,
    attribute: attributing(options.usage),
    publicUrl: publicUrl.replace(/\/*(?:\/v1)?\/*$/, ''),
    usable: (model: Model) => breaker.usable(attemptOrder(model.deployments, random)),
    stallMs: timeouts.stallMs ?? 60_000,
    inspect: inspecting(options, observer),
  }
  const named = (own ?? []).filter(({ id }) => !id.endsWith('*'))
  const questions = storeQuestions(options, stores)
  const countDue = (most: number) => videos.countDue(most)
  const owned = [
    ownKeys,
    authenticator,
    // The one closes the store of both.
    answerCache === undefined ? idempotency : { close: () => answerCache.close().then(() => idempotency?.close()) },
    serving,
    ...Object.values(stores),
    registry,
    refreshing(options, observer),
    ...(providers ?? []),
  ]
  return {
    admin,
    admission,
    affinity: options.affinity !== 'none',
    alerts,
    authenticator,
    batches,
    breaker,
    cache: answerCache,
    calls,
    content: content?.log,
    catalogue,
    checks: new StoreChecks({ questions, countDue, timeoutMs: timeouts.storeMs ?? 2_000, now }),
    deployments: new KnownDeployments(named, breaker),
    idempotency,
    live,
    observer,
    services,
    questions,
    vendorQuestions: vendorQuestions(providers ?? [], named),
    warnings: () => warningsIn(options, own ?? []),
    routes,
    refused: refusedLog(options, stores.usage, guarding((timeouts.storeMs ?? 2_000) * 5)('the usage store'), observer),
    serving,
    sizes,
    owned: owned.filter((part) => part !== undefined),
    now,
    ticks,
  }
}

/** Whether a deployment has costs of its own. */
function hasCosts(models: readonly Model[]): boolean {
  return models.some(({ deployments }) => deployments.some(({ cost }) => cost?.price !== undefined))
}

/** Undefined if no keys of accounts are kept. */
function vaultOf(
  { ownKeys }: GatewayOptions,
  { vendorKeys: store }: Stores,
  guard: Guard,
  providers: Iterable<Provider> | undefined,
  ticks: () => number,
): VendorKeyVault | undefined {
  const { secrets } = ownKeys ?? {}
  if (secrets === undefined || store === undefined) return undefined
  return new VendorKeyVault({ store, guard, secrets, providers, ticks })
}

/** Makes guards with a common timeout. */
function guardsOf({ storeFailed: failed }: Observer): (timeoutMs: number) => (name: string) => Guard {
  return (timeoutMs) => (name) => new Guard({ name, timeoutMs, now: () => performance.now(), failed })
}

/** The log of refused requests; undefined if the options turn it off, or if the store cannot keep them. */
function refusedLog(
  { usage = {}, clock: now = Date.now }: GatewayOptions,
  store: UsageStore | undefined,
  guard: Guard,
  observer: Observer,
): RefusedLog | undefined {
  const { refused = {}, keepMs, maxUsers = 1_000 } = usage
  if (refused === false || store === undefined || !keepsRefused(store)) return undefined
  return new RefusedLog({
    store,
    refused,
    keepMs,
    maxUsers,
    guard,
    now,
    failed: observer.failed,
  })
}

function keepsRefused(store: UsageStore): store is UsageStore & Required<Pick<UsageStore, 'appendRefused'>> {
  return store.appendRefused !== undefined
}

/** Lets the price table keep its data up to date; undefined if it cannot. */
function refreshing({ prices }: GatewayOptions, observer: Observer): Closing | undefined {
  const close = prices?.start?.((error) => observer.failure({ id: 'prices.refresh', error }))
  return close && { close }
}
