/** Calls that are made with the customer's own key at the vendor, and not with the host's. */
import { LRUCache } from 'lru-cache'
import type { Caller } from '../callers/contract.ts'
import { GatewayError } from '../errors.ts'
import { within } from '../http/deadline.ts'
import { parseCost } from '../money/prices/cost.ts'
import { Price } from '../money/prices/price.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import type { Provider } from '../providers/contract.ts'
import type { KeySource } from '../providers/credentials/token.ts'
import type { Deployment, Model } from './contract.ts'

/** A customer's key at a vendor. */
export interface OwnKey {
  /** The key, or a function that returns it: the same function each time, which its tokens are kept for. */
  readonly apiKey: string | KeySource
  /** Whether the host's key may serve, and is then charged as usual, if this one fails. Default false. */
  readonly fallback?: boolean
}

/** What is asked for a key. */
export interface OwnKeyQuestion {
  /** The model, as clients name it. */
  readonly model: string
  /** The name of the provider, such as `openai`. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly providerModel: string
}

/** Options for the customers' own keys at vendors. */
export interface OwnKeyOptions {
  /**
   * Required. The caller's key for a deployment; undefined if the host's serves. Called for each request, so cache what takes
   * time; within 3 s. If one deployment of a model has a key, only those with one are tried, unless `fallback` says otherwise.
   * Throw a `GatewayError` for callers that must have a key and have none. Not asked for videos, and for providers without
   * `withKey`.
   */
  credentials(caller: Caller, deployment: OwnKeyQuestion): OwnKey | undefined | Promise<OwnKey | undefined>
  /** What a call with such a key costs, such as `{ request: '0.001' }`. Caps and limits count it as any other. Default: nothing. */
  readonly price?: PriceOptions
}

const limitMs = 3_000
/** Of one provider of the host. Those that are used least are made again. */
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

/** Puts callers' own keys in the place of the host's. */
export class OwnKeys {
  readonly #options: OwnKeyOptions
  readonly #price: Price
  readonly #providers = new Map<Provider, LRUCache<string | KeySource, Provider>>()

  /** Throws a `TypeError` for an invalid price. */
  constructor(options: OwnKeyOptions) {
    this.#options = options
    this.#price = new Price({ ...free, ...options.price })
  }

  /** The model as it is served for the caller. Rejects with 503 if the function fails: the host's key does not step in. */
  async modelFor(model: Model, caller: Caller): Promise<Model> {
    const found = await within(limitMs, this.#keysFor(model, caller), 'ownKeys.credentials').catch(unanswered)
    const own = found.filter(({ key }) => key !== undefined)
    if (own.length === 0) return model
    const { price, ...rest } = model
    const owned = own.map(({ deployment, key }) => this.#owned(deployment, key as OwnKey))
    const others = own.every(({ key }) => key?.fallback === true) ? model.deployments : []
    const after = Math.max(...owned.map(({ order }) => order)) + 1
    const host = others.map((each) => ({ ...each, order: each.order + after, ...(price && { price }) }))
    return { ...rest, deployments: [...owned, ...host] }
  }

  /** Closes the providers. */
  async close(): Promise<void> {
    const all = [...this.#providers.values()].flatMap((providers) => [...providers.values()])
    this.#providers.clear()
    await Promise.all(all.map(async (provider) => provider.close?.()))
  }

  #keysFor({ id, deployments }: Model, caller: Caller) {
    return Promise.all(
      deployments.map(async (deployment) => {
        const { provider, model } = deployment
        const question = { model: id, provider: provider.name, providerModel: model }
        const key = provider.withKey && (await this.#options.credentials(caller, question))
        return { deployment, key: key ?? undefined }
      }),
    )
  }

  #owned({ provider, ...deployment }: Deployment, { apiKey }: OwnKey): Deployment {
    let providers = this.#providers.get(provider)
    if (providers === undefined) this.#providers.set(provider, (providers = new LRUCache({ max: mostProviders })))
    let own = providers.get(apiKey)
    if (own === undefined) providers.set(apiKey, (own = withKey(provider, apiKey)))
    return { ...deployment, provider: own, price: this.#price, cost: nothing }
  }
}

function withKey(provider: Provider, apiKey: string | KeySource): Provider {
  try {
    return provider.withKey?.(apiKey) as Provider
  } catch (error) {
    return unanswered(error)
  }
}

function unanswered(error: unknown): never {
  if (GatewayError.is(error)) throw error
  throw new GatewayError('service_unavailable', { cause: error, retryAfterMs: 1_000 })
}
