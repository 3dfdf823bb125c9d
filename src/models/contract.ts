/**
 * Which models there are. The embedded registry takes them from the options; a registry of one's own may read them from
 * a database or a configuration service.
 */
import type { Provider } from '../providers/contract.ts'

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
  /** The groups that may use the model; absent: every group whose own list names it. */
  readonly groups?: readonly string[]
  /** At least one. */
  readonly deployments: readonly Deployment[]
}

export interface ModelRegistry {
  /** Required. The model a client means by `id`, aliases and wildcards resolved; undefined when there is none. */
  find(id: string): Promise<Model | undefined> | Model | undefined
  /** Required. All models worth listing, in the order they should be shown. */
  list(signal: AbortSignal): Promise<readonly Model[]> | readonly Model[]
  /** Optional. Gives back what the registry holds. Called once by `gateway.close()`. */
  close?(): Promise<void>
}
