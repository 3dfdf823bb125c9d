/** The embedded registry: the models of the options. */
import type { DisconnectPolicy } from '../billing/disconnect.ts'
import { Price, type PriceOptions } from '../billing/price.ts'
import type { ScopedRate } from '../limits/rate.ts'
import { within } from '../http/deadline.ts'
import type { Provider } from '../providers/contract.ts'
import type { ModelObject } from '../wire/model.ts'
import type { VideoLimits } from '../providers/video.ts'
import { requireCharged } from './charged.ts'
import type { Deployment, ImageAbilities, Model, ModelRegistry } from './contract.ts'

/** A model in the options: a provider alone, or with what there is to say about it. */
export type ModelEntry = Provider | ModelOptions

export interface ModelOptions {
  /** Who serves the model. Either this or `route`. */
  readonly provider?: Provider
  /** The provider's name for the model. Default: the name clients use. */
  readonly providerModel?: string
  /** Several ways to reach the model, tried in order; entries of the same `order` are drawn by weight. */
  readonly route?: readonly RouteEntry[]
  /** Other names that mean this model. Not listed. */
  readonly aliases?: readonly string[]
  /** The groups that may use the model. Default: every group whose `models` name it. */
  readonly groups?: readonly string[]
  /** `owned_by` in the list. Default: the provider's name. */
  readonly ownedBy?: string
  /** `created` in the list, seconds since the epoch. Default: when the gateway was created. */
  readonly created?: number
  /** Tokens of input and output together. */
  readonly contextWindow?: number
  /** Tokens of output at most. */
  readonly maxOutputTokens?: number
  /** What an image model takes, such as `imageModels.dallE3`. Default: anything. */
  readonly image?: ImageAbilities
  /** What a call costs. Default for a `route`: the price of the model that answers. Only used with `billing`. */
  readonly price?: PriceOptions
  /** What becomes of a call whose client leaves. Default: `billing.onDisconnect`. */
  readonly onDisconnect?: DisconnectPolicy
  /** How much of the model may be used: by everybody together, unless `per` says otherwise. */
  readonly rate?: ScopedRate
  /**
   * Fields, and types of `tools`, that clients may use although they choose another model, price or amount of work at the
   * vendor, such as `['service_tier', 'code_interpreter']`. Those that are known to do so are refused otherwise. Default
   * for a `route` without a price of its own: as the model that answers.
   */
  readonly allow?: readonly string[]
  /**
   * Top-level fields of every request, such as `{ service_tier: 'flex' }`; what a client sends in them is replaced. Those
   * of the models in a `route` apply as well.
   */
  readonly set?: Readonly<Record<string, unknown>>
  /** What may be asked of a video model: `portraitVideo`, `landscapeVideo`, or limits of its own. Default: its provider's. */
  readonly video?: VideoLimits
}

export type RouteEntry =
  /** Another model of the options, by name. */
  | string
  | { readonly model: string; readonly order?: number; readonly weight?: number }
  | { readonly provider: Provider; readonly providerModel?: string; readonly order?: number; readonly weight?: number }

export interface RegistryOptions {
  readonly now: () => number
  /** Milliseconds for which a vendor's own list is kept. Default 300,000. */
  readonly listAgeMs?: number
  /** Every model must have a price: throws a `TypeError` that names one without. Default false. */
  readonly priced?: boolean
}

/** Milliseconds a vendor may take to list its models; then the list goes out without them. */
const vendorListMs = 2_500

interface Wildcard {
  /** What stands before the `*`. */
  readonly prefix: string
  readonly model: Model
  listed?: { readonly models: readonly ModelObject[]; readonly at: number }
  /** The question to the vendor that is under way. */
  asking?: Promise<void> | undefined
}

export function staticRegistry(entries: Readonly<Record<string, ModelEntry>>, options: RegistryOptions): ModelRegistry {
  const { now, listAgeMs = 300_000, priced = false } = options
  const models = new Map<string, Model>()
  const aliases = new Map<string, string>()
  const wildcards: Wildcard[] = []

  for (const [id, entry] of Object.entries(entries)) {
    const model = modelOf(id, entry, entries, Math.floor(now() / 1000))
    if (priced) requirePrice(model)
    requireCharged(model)
    if (id.endsWith('*')) wildcards.push({ prefix: id.slice(0, -1), model })
    else models.set(id, model)
    if (!isProvider(entry)) for (const alias of entry.aliases ?? []) aliases.set(alias, id)
  }
  // The longest prefix is the most exact one.
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
  const { groups, contextWindow, maxOutputTokens, image, video, price, onDisconnect, rate, set } = options
  // At a price of its own, what may be asked of it is its own as well.
  const allow = options.allow ?? (options.route !== undefined && price !== undefined ? [] : undefined)
  return {
    id,
    created: options.created ?? created,
    ownedBy: options.ownedBy ?? deployments[0]?.provider.name ?? 'modelhatch',
    deployments,
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
  }
}

function deploymentsOf(id: string, entries: Readonly<Record<string, ModelEntry>>, above: string[]): Deployment[] {
  if (above.includes(id)) throw new TypeError(`models: the route of "${above[0]}" leads back to "${id}". Take it out.`)
  const entry = Object.hasOwn(entries, id) ? entries[id] : undefined
  if (entry === undefined)
    throw new TypeError(`models: the route of "${above.at(-1)}" names "${id}", which is no model.`)
  const options: ModelOptions = isProvider(entry) ? { provider: entry } : entry
  const open = id.endsWith('*')
  if (options.provider !== undefined) {
    const { provider, providerModel, price, allow, set } = options
    // In a wildcard, `providerModel` is a wildcard too: what the client wrote for one `*` replaces the other.
    const rest = {
      ...(open && { open }),
      ...(price && { price: priceOf(id, price) }),
      ...(allow && { allow }),
      ...(set && { set }),
    }
    return [{ provider, model: providerModel ?? (open ? '*' : id), order: 0, weight: 1, ...rest }]
  }
  return (options.route ?? []).flatMap((step, index) => {
    if (typeof step === 'string') return inOrder(deploymentsOf(step, entries, [...above, id]), index, 1)
    const { order = index, weight = 1 } = step
    if ('model' in step) return inOrder(deploymentsOf(step.model, entries, [...above, id]), order, weight)
    return [{ provider: step.provider, model: step.providerModel ?? id, order, weight }]
  })
}

function priceOf(id: string, options: PriceOptions): Price {
  try {
    return new Price(options)
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

/** The deployments of a routed model keep their own order inside the place of the route entry. */
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

/** What the vendor lists, or what it listed last: a vendor that is down must not empty the list. */
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

/** One question serves everybody who wants to know meanwhile, and does not end with the client that was first. */
async function ask(wildcard: Wildcard, provider: Provider, now: () => number, ageMs: number): Promise<void> {
  try {
    const asked = Promise.resolve(provider.models?.({ signal: AbortSignal.timeout(vendorListMs) }))
    const models = await within(vendorListMs, asked, 'the list of a vendor')
    wildcard.listed = { models: models ?? [], at: now() }
  } catch {
    wildcard.listed = { models: wildcard.listed?.models ?? [], at: now() - ageMs + 5_000 }
  }
}

/** Every provider that is named in the options of models. */
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
