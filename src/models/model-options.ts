import type { CostOptions } from '../money/prices/cost.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import type { Inspect } from '../inspect/contract.ts'
import type { Provider } from '../providers/contract.ts'
import type { ModelProperties } from './model-fields.ts'
import type { RouteEntry } from './route-entry.ts'

/** A model in the options: a provider alone, or a provider with options. */
export type ModelEntry = Provider | ModelOptions

/** Models of the options, by the name clients use. */
export type ModelEntries = Readonly<Record<string, ModelEntry>>

/** Options of a model. */
export interface ModelOptions extends ModelProperties {
  /** The provider of the model. Either this or `route`. */
  readonly provider?: Provider
  /** The provider's name for the model. Default: the name clients use. */
  readonly providerModel?: string
  /** Several deployments of the model, tried in order; those of the same `order` share the conversations by `weight`. */
  readonly route?: readonly RouteEntry[]
  /** `created` in the list, seconds since the epoch. Default: when the gateway was created. */
  readonly created?: number
  /** Price of a request. Default for a `route`: the price of the model that serves it. Only used with `billing`. */
  readonly price?: PriceOptions
  /**
   * What calls cost the host, for usage statistics: a discount on the vendor's list price, such as `{ multiplier: '0.9' }`, or
   * rates of its own as in `price`. For a `route`, set it in its entries. Default: the list price of the price table.
   */
  readonly cost?: CostOptions
  /** What looks into requests to the model and its answers, after the inspectors of the gateway and of the group. Default: nothing. */
  readonly inspect?: readonly Inspect[]
}

export function isProvider(entry: ModelEntry): entry is Provider {
  return 'name' in entry
}

/** The options of an entry. */
export function optionsOf(entry: ModelEntry): ModelOptions {
  return isProvider(entry) ? { provider: entry } : entry
}

/** All providers in the options of models. */
export function providersOf(models: ModelEntries): Set<Provider> {
  const providers = new Set<Provider>()
  for (const entry of Object.values(models)) {
    const { provider, route = [] } = optionsOf(entry)
    if (provider !== undefined) providers.add(provider)
    for (const step of route) if (typeof step === 'object' && 'provider' in step) providers.add(step.provider)
  }
  return providers
}
