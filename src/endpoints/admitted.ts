import type { Metered } from '../admission/meter.ts'
import type { Caller } from '../callers/contract.ts'
import type { Attribution } from '../observe/usage/attribution.ts'
import type { CallWatch } from '../observe/watch.ts'
import type { Work } from '../providers/work.ts'
import type { Context } from './endpoint.ts'

/** A request that has passed the rate limits and whose money is held. */
export interface Admitted<Request> extends Omit<Context<Request>, 'meter' | 'observer'> {
  readonly caller: Caller
  readonly attribution: Attribution
  /** The conversation that the request belongs to, whose deployment it should get; undefined: any. */
  readonly conversation?: { readonly id: string; readonly promptCacheKey: string | undefined } | undefined
  /** Milliseconds since `startedAt`, measured by a monotonic clock. */
  readonly elapsedMs: () => number
  /** The limit of output tokens to send to the vendor if the request has none, so that the held amount suffices. */
  readonly cap?: number | undefined
  /** See `Metered.hidden`. */
  readonly hidden?: Metered['hidden']
  /** Tracks which providers are working for this request. */
  readonly work: Work
  /** Called once with the receipt; see `Metered.deliver`. */
  readonly deliver: Metered['deliver']
  /** Undefined if the request is not observed. */
  readonly watch?: CallWatch | undefined
  /** Whether the receipt has the log of the attempts. */
  readonly logsAttempts?: boolean
}
