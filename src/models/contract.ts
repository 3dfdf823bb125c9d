import type { Caller } from '../callers/contract.ts'
import type { Cost, CostOptions } from '../money/prices/cost.ts'
import type { Price } from '../money/prices/price.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import type { Inspect } from '../inspect/contract.ts'
import type { Provider } from '../providers/contract.ts'
import type { VideoLimits } from '../providers/video.ts'
import type { ModelProperties } from './model-fields.ts'
import type { RouteStep } from './route-entry.ts'

/** A provider together with its name for a model: one way to serve the model. */
export interface Deployment extends Omit<RouteStep, 'order' | 'weight'> {
  /** The provider that is called. */
  readonly provider: Provider
  /** The vendor's name for the model. */
  readonly model: string
  /** Deployments are tried in ascending order. */
  readonly order: number
  /** Among deployments of the same order, the relative probability of being tried first. */
  readonly weight: number
  /** Whether the client chose the vendor's model name (`'openai/*'`), so that an unknown name is the client's error. */
  readonly open?: boolean
  /** Whether it is called with a key of the customer's. */
  readonly hasOwnKey?: boolean
  /** Price of a request, if the model itself has none. */
  readonly price?: Price
  /** What calls cost the host. Default: the list price of the price table, if it has one. */
  readonly cost?: Cost
  /** Like `Model.allow`, if the model itself has none. */
  readonly allow?: readonly string[]
  /** Like `Model.set`, whose fields take precedence. */
  readonly set?: Readonly<Record<string, unknown>>
}

/** A model as clients see it, and how it is served. */
export interface Model extends Omit<ModelProperties, 'aliases' | 'ownedBy'> {
  /** The name clients use. */
  readonly id: string
  /** Seconds since the epoch. */
  readonly created: number
  /** `owned_by` in the model list. */
  readonly ownedBy: string
  /** Price of a request. Default: the price of the deployment that serves it. */
  readonly price?: Price
  /** What looks into its requests and answers, after the inspectors of the gateway and of the group. Default: nothing. */
  readonly inspect?: readonly Inspect[]
  /** At least one. */
  readonly deployments: readonly Deployment[]
}

/** Limits of a video model that produces portrait videos. */
export const portraitVideo: VideoLimits = { sizes: ['720x1280', '1024x1792'] }
/** Limits of a video model that produces landscape videos. */
export const landscapeVideo: VideoLimits = { sizes: ['1280x720', '1792x1024'] }

/** A model as a registry returns it: prices may be plain objects of strings, as in the options. */
export interface RegistryModel extends Omit<Model, 'price' | 'deployments'> {
  /** The price of the model. Default: that of the deployment that responds. */
  readonly price?: Price | PriceOptions
  /** At least one. */
  readonly deployments: readonly RegistryDeployment[]
}

/** A deployment as a registry returns it. */
export interface RegistryDeployment extends Omit<Deployment, 'price' | 'cost'> {
  /** The price of this deployment. */
  readonly price?: Price | PriceOptions
  /** What its calls cost the host. */
  readonly cost?: Cost | CostOptions
}

/**
 * The source of models. The models of the options are one; another may read them from a database or a configuration
 * service.
 */
export interface ModelRegistry {
  /**
   * Required. The model that `id` refers to, with aliases and wildcards resolved; undefined if there is none. `caller`: who asks;
   * undefined for work that was authorised when it started.
   */
  find(id: string, caller?: Caller): Promise<RegistryModel | undefined> | RegistryModel | undefined
  /** Required. All models to list, in order. */
  list(signal: AbortSignal): Promise<readonly RegistryModel[]> | readonly RegistryModel[]
  /** Optional. Releases the registry's resources. Called once by `gateway.close()`. */
  close?(): Promise<void>
}
