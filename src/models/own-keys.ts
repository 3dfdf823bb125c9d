/** Calls that are made with the customer's own key at the vendor, and not with the host's. */
import type { LRUCache } from 'lru-cache'
import type { Caller } from '../callers/contract.ts'
import { GatewayError } from '../errors.ts'
import { within } from '../http/deadline.ts'
import { parseCost } from '../money/prices/cost.ts'
import { Price } from '../money/prices/price.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import { parseFactor, parseRate } from '../money/prices/rate.ts'
import { shareOf } from '../money/prices/share.ts'
import type { Provider } from '../providers/contract.ts'
import type { KeySource } from '../providers/credentials/token.ts'
import { boundedCache } from '../bounded-cache.ts'
import type { Deployment, Model } from './contract.ts'
import { isMode, type OwnKey, type OwnKeyMode, type OwnKeyOptions, type OwnKeyQuestion } from './own-key-options.ts'
import type { KnownVendorKeys } from './vendor-keys/known-keys.ts'

const limitMs = 3_000
/** Of the host, whose registry may make new ones for each request, and of each of these. Those that are used least are made again. */
const mostProviders = 1_000

/** Nothing is left out, so that nothing is refused as unpriced. */
const free: PriceOptions = {
  input: '0',
  output: '0',
  inputAudio: '0',
  outputAudio: '0',
  image: '0',
  second: '0',
  request: '0',
  tools: { '*': '0' },
}

/** The customer pays the vendor. */
const nothing = parseCost(free)

/** The caller's keys, in the order of the deployments. */
interface Answer {
  readonly mode: OwnKeyMode
  readonly keys: readonly (OwnKey | undefined)[]
}

/** Puts callers' own keys in the place of the host's. */
export class OwnKeys {
  readonly #options: OwnKeyOptions
  readonly #stored: Pick<KnownVendorKeys, 'find'> | undefined
  readonly #rates: { readonly fee: bigint; readonly multiplier: bigint }
  readonly #fee: Price
  /** Of the prices of the host, if they count. */
  readonly #shares = new WeakMap<Price, Price>()
  readonly #providers = boundedCache<Provider, LRUCache<string | KeySource, Provider>>(mostProviders)

  /** `stored`: the keys of `gateway.admin.vendorKeys`. Throws a `TypeError` for an invalid fee or multiplier. */
  constructor(options: OwnKeyOptions, stored?: Pick<KnownVendorKeys, 'find'>) {
    this.#options = options
    this.#stored = stored
    const { fee = '0', multiplier = '0' } = options
    this.#rates = { fee: parseRate(fee, 'fee'), multiplier: parseFactor(multiplier, 'multiplier') }
    this.#fee = new Price({ ...free, request: fee })
  }

  /**
   * The model as it is served for the caller. Throws or rejects with 503 if its keys cannot be read: the host's do not step in; and
   * with 403 if it must have a key and has none.
   */
  modelFor(model: Model, caller: Caller): Model | Promise<Model> {
    const answer = this.#ask(caller, (mode) => this.#keysFor(mode, model, caller))
    return answer instanceof Promise ? answer.then((each) => this.#served(model, each)) : this.#served(model, answer)
  }

  /** The same of what is always served with the host's key. */
  async modelForTask(model: Model, caller: Caller): Promise<Model> {
    const { mode } = await this.#ask(caller, (each) => ({ mode: each, keys: [] }))
    if (mode === 'only') throw withoutKey(model, 'which videos cannot use')
    return model
  }

  /** Closes the providers. */
  async close(): Promise<void> {
    const all = [...this.#providers.values()].flatMap((providers) => [...providers.values()])
    this.#providers.clear()
    await Promise.all(all.map(async (provider) => provider.close?.()))
  }

  #ask(caller: Caller, act: (mode: OwnKeyMode) => Answer | Promise<Answer>): Answer | Promise<Answer> {
    const { mode = 'prefer' } = this.#options
    try {
      const answer = typeof mode === 'function' ? modeOf(mode, caller).then(act) : act(mode)
      return answer instanceof Promise ? within(limitMs, answer, 'ownKeys').catch(unanswered) : answer
    } catch (error) {
      return unanswered(error)
    }
  }

  #keysFor(mode: OwnKeyMode, { id, deployments }: Model, caller: Caller): Answer | Promise<Answer> {
    if (mode === 'host') return { mode, keys: [] }
    const keys = deployments.map(
      ({ provider, model }) =>
        provider.withKey && this.#keyFor(caller, { model: id, provider: provider.name, providerModel: model }),
    )
    if (!keys.some((key) => key instanceof Promise)) return { mode, keys: keys as Answer['keys'] }
    return Promise.all(keys.map(async (key) => key)).then((all) => ({ mode, keys: all }))
  }

  #keyFor(caller: Caller, question: OwnKeyQuestion): OwnKey | undefined | Promise<OwnKey | undefined> {
    const options = this.#options
    if (options.credentials === undefined) return this.#storedKey(caller, question)
    const asked = (async () => options.credentials?.(caller, question))()
    return asked.then((key) => key ?? this.#storedKey(caller, question))
  }

  #storedKey({ account }: Caller, { provider }: OwnKeyQuestion): OwnKey | undefined | Promise<OwnKey | undefined> {
    const { fallback = false } = this.#options
    const owned = (apiKey: string | undefined) => (apiKey === undefined ? undefined : { apiKey, fallback })
    const found = this.#stored?.find({ account, provider })
    return found instanceof Promise ? found.then(owned) : owned(found)
  }

  #served(model: Model, { mode, keys }: Answer): Model {
    const owned: Deployment[] = []
    let mayFallBack = mode !== 'only'
    for (const [index, deployment] of model.deployments.entries()) {
      const key = keys[index]
      if (key === undefined) continue
      owned.push(this.#owned(deployment, key, model.price ?? deployment.price))
      mayFallBack &&= key.fallback === true
    }
    if (owned.length === 0) {
      if (mode === 'only') throw withoutKey(model, remedyFor(model))
      return model
    }
    const { price, ...rest } = model
    const after = Math.max(...owned.map(({ order }) => order)) + 1
    const others = mayFallBack ? model.deployments : []
    const host = others.map((each) => ({ ...each, order: each.order + after, ...(price && { price }) }))
    return { ...rest, deployments: [...owned, ...host] }
  }

  #owned({ provider, ...deployment }: Deployment, { apiKey }: OwnKey, price: Price | undefined): Deployment {
    let providers = this.#providers.get(provider)
    if (providers === undefined) this.#providers.set(provider, (providers = boundedCache(mostProviders)))
    let own = providers.get(apiKey)
    if (own === undefined) providers.set(apiKey, (own = withKey(provider, apiKey)))
    return { ...deployment, provider: own, hasOwnKey: true, price: this.#priceOf(price), cost: nothing }
  }

  #priceOf(price: Price | undefined): Price {
    const { fee, multiplier } = this.#rates
    if (price === undefined || multiplier === 0n) return this.#fee
    let share = this.#shares.get(price)
    if (share === undefined) this.#shares.set(price, (share = shareOf(price, multiplier, fee)))
    return share
  }
}

async function modeOf(mode: (caller: Caller) => OwnKeyMode | Promise<OwnKeyMode>, caller: Caller): Promise<OwnKeyMode> {
  const chosen: unknown = await mode(caller)
  if (isMode(chosen)) return chosen
  throw new TypeError("the function ownKeys.mode must return 'only', 'prefer' or 'host'")
}

function withKey(provider: Provider, apiKey: string | KeySource): Provider {
  try {
    return provider.withKey?.(apiKey) as Provider
  } catch (error) {
    return unanswered(error)
  }
}

function remedyFor({ deployments }: Model): string {
  const names = new Set(deployments.flatMap(({ provider }) => (provider.withKey ? [provider.name] : [])))
  return names.size === 0 ? 'which it cannot use' : `and you have none for ${[...names].join(' or ')}`
}

function withoutKey({ id }: Model, why: string): GatewayError {
  const message = `The model "${id}" is served to you with a vendor key of your own only, ${why}.`
  return new GatewayError('forbidden', { message, shouldRetry: false })
}

function unanswered(error: unknown): never {
  if (GatewayError.is(error)) throw error
  throw new GatewayError('service_unavailable', { cause: error, retryAfterMs: 1_000 })
}
