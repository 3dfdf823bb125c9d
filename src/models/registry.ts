import type { DisconnectPolicy } from '../money/disconnect.ts'
import { parseCost, type CostOptions } from '../money/prices/cost.ts'
import { Price } from '../money/prices/price.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import type { ScopedRate } from '../records/rate.ts'
import { within } from '../http/deadline.ts'
import type { Provider } from '../providers/contract.ts'
import type { ModelObject } from '../wire/model.ts'
import type { VideoLimits } from '../providers/video.ts'
import { requireCharged } from './price-coverage.ts'
import type { PriceTableDefaults } from './price-table-defaults.ts'
import type { Deployment, ImageAbilities, Model, ModelRegistry } from './contract.ts'
import type { RouteEntry } from './route-entry.ts'

/** A model in the options: a provider alone, or a provider with options. */
export type ModelEntry = Provider | ModelOptions

/** Options of a model. */
export interface ModelOptions {
  /** The provider of the model. Either this or `route`. */
  readonly provider?: Provider
  /** The provider's name for the model. Default: the name clients use. */
  readonly providerModel?: string
  /** Several deployments of the model, tried in order; those of the same `order` share the conversations by `weight`. */
  readonly route?: readonly RouteEntry[]
  /**
   * Which entry of equal order comes first: the one at the lowest price for the request, or the one that usually begins soonest.
   * A conversation stays where its beginning is cached while that is worth more. Default: any, by `weight`.
   */
  readonly prefer?: 'price' | 'latency'
  /**
   * Whether a stream that breaks off goes on at the next deployment: it gets the text so far. Calls of tools are then sent to the
   * client when they are complete. Default false.
   */
  readonly continue?: boolean
  /** Other names of the model. Not listed. */
  readonly aliases?: readonly string[]
  /** The groups that may use the model. Default: every group whose `models` include it. */
  readonly groups?: readonly string[]
  /** The name that people see in clients that show one, such as Claude Code. Default: the name clients use. */
  readonly displayName?: string
  /** `owned_by` in the list. Default: the provider's name. */
  readonly ownedBy?: string
  /** `created` in the list, seconds since the epoch. Default: when the gateway was created. */
  readonly created?: number
  /** Maximum tokens of input and output together. */
  readonly contextWindow?: number
  /** Maximum output tokens. */
  readonly maxOutputTokens?: number
  /** What an image model supports, such as `imageModels.dallE3`. Default: everything. */
  readonly image?: ImageAbilities
  /** Price of a request. Default for a `route`: the price of the model that serves it. Only used with `billing`. */
  readonly price?: PriceOptions
  /**
   * What calls cost the host, for usage statistics: a discount on the vendor's list price, such as `{ multiplier: '0.9' }`, or
   * rates of its own as in `price`. For a `route`, set it in its entries. Default: the list price of the price table.
   */
  readonly cost?: CostOptions
  /** What happens when a client disconnects. Default: `billing.onDisconnect`. */
  readonly onDisconnect?: DisconnectPolicy
  /** Limits of the model, counted for all callers together unless `per` is set. */
  readonly rate?: ScopedRate
  /**
   * Fields and types of `tools` that clients may use although they change the vendor's model, price or amount of work,
   * such as `['service_tier', 'code_interpreter']`. Without this they are rejected. Default for a `route` without a price
   * of its own: as in the model that serves the request.
   */
  readonly allow?: readonly string[]
  /**
   * Top-level fields that are set in every request, such as `{ service_tier: 'flex' }`. They replace the client's values.
   * The fields of the models in a `route` apply as well.
   */
  readonly set?: Readonly<Record<string, unknown>>
  /** What a video model supports: `portraitVideo`, `landscapeVideo`, or other limits. Default: what its provider declares. */
  readonly video?: VideoLimits
}

export interface RegistryOptions {
  readonly now: () => number
  /** Milliseconds for which a vendor's model list is cached. Default 300,000. */
  readonly listAgeMs?: number
  /** Whether every model must have a price. Throws a `TypeError` that names one without. Default false. */
  readonly priced?: boolean
  /** Prices and context windows for models without their own. Default: none. */
  readonly tableDefaults?: PriceTableDefaults | undefined
}

/** Timeout in milliseconds of a vendor's model list; the list is then sent without its models. */
const vendorListMs = 2_500

interface Wildcard {
  /** The text before the `*`. */
  readonly prefix: string
  readonly model: Model
  listed?: { readonly models: readonly ModelObject[]; readonly at: number }
  /** The request to the vendor in progress. */
  asking?: Promise<void> | undefined
}

/** A registry of the models in the options. Throws a `TypeError` that names an invalid model. */
export function staticRegistry(entries: Readonly<Record<string, ModelEntry>>, options: RegistryOptions): ModelRegistry {
  const { now, listAgeMs = 300_000, priced = false, tableDefaults } = options
  const models = new Map<string, Model>()
  const aliases = new Map<string, string>()
  const wildcards: Wildcard[] = []

  for (const [id, entry] of Object.entries(entries)) {
    const model = modelOf(id, entry, entries, Math.floor(now() / 1000))
    const complete = tableDefaults?.complete(model, now()) ?? model
    // Which models a wildcard has is known only when they are requested.
    if (priced && !(tableDefaults !== undefined && id.endsWith('*'))) requirePrice(complete)
    requireCharged(complete)
    if (id.endsWith('*')) wildcards.push({ prefix: id.slice(0, -1), model })
    else models.set(id, model)
    if (!isProvider(entry)) for (const alias of entry.aliases ?? []) aliases.set(alias, id)
  }
  // The longest prefix is the most specific.
  wildcards.sort((left, right) => right.prefix.length - left.prefix.length)

  const find = (id: string): Model | undefined => {
    const model = models.get(id) ?? models.get(aliases.get(id) ?? '')
    if (model !== undefined) return model
    const wildcard = wildcards.find(({ prefix }) => id.length > prefix.length && id.startsWith(prefix))
    return wildcard && openModel(wildcard, id)
  }

  return {
    find,
    async list() {
      const listed = [...models.values()]
      const offered = await Promise.all(wildcards.map((wildcard) => offeredBy(wildcard, now, listAgeMs)))
      const seen = new Set(models.keys())
      for (const model of offered.flat()) {
        if (!seen.has(model.id)) listed.push(model)
        seen.add(model.id)
      }
      return listed
    },
  }
}

function isProvider(entry: ModelEntry): entry is Provider {
  return 'name' in entry
}

function modelOf(id: string, entry: ModelEntry, entries: Readonly<Record<string, ModelEntry>>, created: number): Model {
  const options: ModelOptions = isProvider(entry) ? { provider: entry } : entry
  const deployments = deploymentsOf(id, entries, [])
  const { groups, contextWindow, maxOutputTokens, image, video, price, onDisconnect, rate, set, prefer } = options
  // A route with a price of its own does not inherit `allow`, because its price may not cover those fields.
  const allow = options.allow ?? (options.route !== undefined && price !== undefined ? [] : undefined)
  return {
    id,
    created: options.created ?? created,
    ownedBy: options.ownedBy ?? deployments[0]?.provider.name ?? 'modelhatch',
    deployments,
    ...(options.displayName && { displayName: options.displayName }),
    ...(groups && { groups }),
    ...(contextWindow && { contextWindow }),
    ...(maxOutputTokens && { maxOutputTokens }),
    ...(image && { image }),
    ...(price && { price: priceOf(id, price) }),
    ...(onDisconnect && { onDisconnect }),
    ...(rate && { rate }),
    ...(video && { video }),
    ...(allow && { allow }),
    ...(set && { set }),
    ...(prefer && { prefer }),
    ...(options.continue === true && { continue: true }),
  }
}

function deploymentsOf(id: string, entries: Readonly<Record<string, ModelEntry>>, above: string[]): Deployment[] {
  if (above.includes(id)) throw new TypeError(`models: the route of "${above[0]}" leads back to "${id}". Remove it.`)
  const entry = Object.hasOwn(entries, id) ? entries[id] : undefined
  if (entry === undefined)
    throw new TypeError(`models: the route of "${above.at(-1)}" names "${id}", which is not a model.`)
  const options: ModelOptions = isProvider(entry) ? { provider: entry } : entry
  const open = id.endsWith('*')
  if (options.provider !== undefined) {
    const { provider, providerModel, contextWindow, price, cost, allow, set } = options
    // In a wildcard, `providerModel` is a wildcard too: the client's text for one `*` replaces the other.
    const rest = {
      ...(open && { open }),
      ...(contextWindow && { contextWindow }),
      ...(price && { price: priceOf(id, price) }),
      ...(cost && { cost: readAs(id, () => parseCost(cost)) }),
      ...(allow && { allow }),
      ...(set && { set }),
    }
    return [{ provider, model: providerModel ?? (open ? '*' : id), order: 0, weight: 1, ...rest }]
  }
  return (options.route ?? []).flatMap((step, index) => {
    if (typeof step === 'string') return inOrder(deploymentsOf(step, entries, [...above, id]), index, 1)
    const { order = index, weight = 1, contextWindow, when, firstContentMs, timeoutMs } = step
    const limits = {
      ...(contextWindow && { contextWindow }),
      ...(when && { when }),
      ...(firstContentMs && { firstContentMs }),
      ...(timeoutMs && { timeoutMs }),
    }
    if ('model' in step) {
      const deployments = inOrder(deploymentsOf(step.model, entries, [...above, id]), order, weight)
      return deployments.map((each) => ({ ...each, ...limits }))
    }
    const { provider, providerModel = id, cost } = step
    const costs = cost && { cost: readAs(id, () => parseCost(cost)) }
    return [{ provider, model: providerModel, order, weight, ...limits, ...costs }]
  })
}

function priceOf(id: string, options: PriceOptions): Price {
  return readAs(id, () => new Price(options))
}

function readAs<T>(id: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new TypeError(`models["${id}"].${(error as Error).message}`, { cause: error })
  }
}

function requirePrice({ id, price, deployments }: Model): void {
  if (price !== undefined || deployments.every((deployment) => deployment.price !== undefined)) return
  throw new TypeError(
    `models["${id}"] has no price. Give it one, such as price: { input: '3', output: '15' }, or set billing.unpriced to 'free'.`,
  )
}

/** The deployments of a routed model keep their relative order within the order of the route entry. */
function inOrder(deployments: Deployment[], order: number, weight: number): Deployment[] {
  return deployments.map((each) => ({ ...each, order: order + each.order / 1024, weight: each.weight * weight }))
}

function openModel({ prefix, model }: Wildcard, id: string): Model {
  const rest = id.slice(prefix.length)
  return {
    ...model,
    id,
    deployments: model.deployments.map((each) => ({ ...each, model: each.model.replace('*', () => rest) })),
  }
}

/** The models that the vendor lists, or its last list while the vendor is down. */
async function offeredBy(wildcard: Wildcard, now: () => number, ageMs: number): Promise<Model[]> {
  const provider = wildcard.model.deployments[0]?.provider
  if (provider?.models === undefined) return []
  if (wildcard.listed === undefined || now() - wildcard.listed.at > ageMs) {
    wildcard.asking ??= ask(wildcard, provider, now, ageMs).finally(() => (wildcard.asking = undefined))
    await wildcard.asking
  }
  return (wildcard.listed?.models ?? []).map(({ id, created, owned_by: ownedBy }) => ({
    ...openModel(wildcard, wildcard.prefix + id),
    created,
    ownedBy,
  }))
}

/** Concurrent callers share one request to the vendor, which is independent of the client that caused it. */
async function ask(wildcard: Wildcard, provider: Provider, now: () => number, ageMs: number): Promise<void> {
  try {
    const asked = Promise.resolve(provider.models?.({ signal: AbortSignal.timeout(vendorListMs) }))
    const models = await within(vendorListMs, asked, 'the list of a vendor')
    wildcard.listed = { models: models ?? [], at: now() }
  } catch {
    wildcard.listed = { models: wildcard.listed?.models ?? [], at: now() - ageMs + 5_000 }
  }
}

/** All providers in the options of models. */
export function providersOf(models: Readonly<Record<string, ModelEntry>>): Set<Provider> {
  const providers = new Set<Provider>()
  for (const entry of Object.values(models)) {
    if ('name' in entry) providers.add(entry)
    else {
      if (entry.provider !== undefined) providers.add(entry.provider)
      for (const step of entry.route ?? [])
        if (typeof step === 'object' && 'provider' in step) providers.add(step.provider)
    }
  }
  return providers
}
