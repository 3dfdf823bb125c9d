/**
 * Which models there are. The embedded registry takes them from the options; a registry of one's own may read them from
 * a database or a configuration service.
 */
import type { DisconnectPolicy } from '../billing/disconnect.ts'
import type { Price, PriceOptions } from '../billing/price.ts'
import type { ScopedRate } from '../limits/rate.ts'
import type { Provider } from '../providers/contract.ts'
import type { VideoLimits } from '../providers/video.ts'

/** One way to reach a model. */
export interface Deployment {
  readonly provider: Provider
  /** The vendor's name for the model. */
  readonly model: string
  /** Deployments are tried in ascending order; those of the same order are drawn by weight. */
  readonly order: number
  readonly weight: number
  /** The client chose the vendor's model name itself (`'openai/*'`), so an unknown one is the client's mistake. */
  readonly open?: boolean
  /** What a call of it costs, where the model itself has no price. */
  readonly price?: Price
  /** As `Model.allow`, where the model itself says nothing. */
  readonly allow?: readonly string[]
  /** As `Model.set`, whose fields come before these. */
  readonly set?: Readonly<Record<string, unknown>>
}

/** What an image model takes. The gateway refuses everything else with 400, and names what would be right. */
export interface ImageAbilities {
  /** The values of `size`. Absent: any `<width>x<height>`, and `auto`. */
  readonly sizes?: readonly string[]
  /** The values of `quality`. Default: OpenAI's, `standard`, `hd`, `low`, `medium`, `high`, `auto`. */
  readonly qualities?: readonly string[]
  /** Images of one call at most. Default 10. */
  readonly maxN?: number
  /** Whether it edits images. Default true. */
  readonly edits?: boolean
  /** False: the vendor answers in base64 only and refuses the field `response_format`, which is then kept from it. Default true. */
  readonly responseFormat?: boolean
}

export interface Model {
  /** The name clients use. */
  readonly id: string
  /** Seconds since the epoch. */
  readonly created: number
  readonly ownedBy: string
  /** Tokens of input and output together, where known. */
  readonly contextWindow?: number
  /** Tokens of output at most, where known. Also what a vendor that insists on a limit is given. */
  readonly maxOutputTokens?: number
  /** For image models. */
  readonly image?: ImageAbilities
  /** What may be asked of a video model. Absent: what its provider says of it. */
  readonly video?: VideoLimits
  /** The groups that may use the model; absent: every group whose own list names it. */
  readonly groups?: readonly string[]
  /** What a call costs. Without one, the price of the deployment that answers. */
  readonly price?: Price
  /** What becomes of a call whose client leaves, where it differs from the gateway's rule. */
  readonly onDisconnect?: DisconnectPolicy
  /** How much of the model may be used: by everybody together, unless `per` says otherwise. */
  readonly rate?: ScopedRate
  /** Fields that clients may use although they choose model, price or amount at the vendor. */
  readonly allow?: readonly string[]
  /** Fields of every request that the host has fixed: the client's own values are replaced. */
  readonly set?: Readonly<Record<string, unknown>>
  /** At least one. */
  readonly deployments: readonly Deployment[]
}

/** The specification's two kinds of video model. */
export const portraitVideo: VideoLimits = { sizes: ['720x1280', '1024x1792'] }
export const landscapeVideo: VideoLimits = { sizes: ['1280x720', '1792x1024'] }

/** A model as a registry gives it: prices may be plain texts, as in the options. */
export interface RegistryModel extends Omit<Model, 'price' | 'deployments'> {
  readonly price?: Price | PriceOptions
  /** At least one. */
  readonly deployments: readonly (Omit<Deployment, 'price'> & { readonly price?: Price | PriceOptions })[]
}

export interface ModelRegistry {
  /** Required. The model a client means by `id`, aliases and wildcards resolved; undefined when there is none. */
  find(id: string): Promise<RegistryModel | undefined> | RegistryModel | undefined
  /** Required. All models worth listing, in the order they should be shown. */
  list(signal: AbortSignal): Promise<readonly RegistryModel[]> | readonly RegistryModel[]
  /** Optional. Gives back what the registry holds. Called once by `gateway.close()`. */
  close?(): Promise<void>
}
