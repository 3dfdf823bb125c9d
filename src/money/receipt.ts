import type { ErrorCode } from '../errors.ts'
import type { Usage } from '../wire/usage.ts'
import type { AttemptRecord } from './attempt-log.ts'
import type { ChargeLine } from './prices/sum.ts'
import type { Units } from '../wire/units.ts'

/** The price table that a price is from. */
export interface PriceSource {
  /** The name and version of the table, such as `@pydantic/genai-prices 0.1.8`. */
  readonly name: string
  /** The day of its data, as `YYYY-MM-DD`. Absent if unknown. */
  readonly date?: string
}

/** The outcome, usage and cost of one request, delivered exactly once when it ends. */
export interface Receipt {
  /** The request id, as in `x-request-id`. One receipt per id. */
  readonly id: string
  /** The endpoint, such as `chat.completions`. */
  readonly endpoint: string
  /** `completed`: the response was sent completely. `cancelled`: the client disconnected, or its key ended. `failed`: see `code`. */
  readonly outcome: 'completed' | 'failed' | 'cancelled'
  /** Error code of a failed request. */
  readonly code?: ErrorCode
  /** The account of the caller, which pays. */
  readonly account: string
  /** The group of the caller. */
  readonly group: string
  /** Public id of the key. Absent for a caller of `authenticate`. */
  readonly key?: string
  /** The person behind the request: named by the host, or by the request itself. */
  readonly user?: string
  /** The session that the client says the request belongs to. */
  readonly session?: string
  /**
   * The agent within the session, such as a sub-agent of Claude Code, by the header `x-claude-code-agent-id`. Only with
   * `session`.
   */
  readonly agent?: string
  /** The tags of the key or caller, without duplicates. Never empty. */
  readonly tags?: readonly string[]
  /** Model name in the request. */
  readonly model: string
  /** The provider of the last attempt. Absent if there was no attempt. */
  readonly provider?: string
  /** That provider's name for the model. */
  readonly providerModel?: string
  /**
   * The deployments that went on with the stream after the first one had broken off. `usage` counts the prompt once, and what each
   * has written. Absent if none did.
   */
  readonly continued?: readonly Pick<AttemptRecord, 'provider' | 'providerModel'>[]
  /** Number of attempts, including retries. */
  readonly attempts: number
  /** Each attempt, in order, at most 100. Present only if usage is recorded and there was an attempt. */
  readonly attemptLog?: readonly AttemptRecord[]
  /** Whether the response was streamed. */
  readonly stream: boolean
  /** Tokens used. */
  readonly usage: Usage
  /** `reported` by the vendor, or `estimated` by the gateway from the size of prompt and response. */
  readonly usageSource: 'reported' | 'estimated'
  /** Of an interrupted response: an estimate of the tokens received, if the vendor had reported fewer by then. */
  readonly delivered?: Usage
  /** The client disconnected after the request was sent and before the vendor responded. `usage` holds the prompt. */
  readonly unanswered?: true
  /** The request failed, but the vendor bills the answer, which was of no use: it is charged. */
  readonly billed?: true
  /** Set if the answer came from the cache: the share of its price that is charged. No vendor was called. */
  readonly cached?: number
  /** Images, seconds and whatever else is charged by the unit. Absent if there was nothing. */
  readonly units?: Units
  /**
   * The vendor's service tier, such as `flex`: as reported, otherwise as requested. Absent if neither names one.
   */
  readonly serviceTier?: string
  /** The vendor's counts, if they exceed what the request can have used. `usage` and `units` hold the reduced values. */
  readonly implausible?: {
    /** The tokens as reported. */
    readonly usage: Usage
    /** The images and seconds as reported. */
    readonly units?: Units
  }
  /**
   * The parts of the request that the provider did not get: fields, and tools by their type, that change the cost and are
   * not allowed, or that the vendor does not have.
   */
  readonly omitted?: readonly string[]
  /** What the account pays. Present only with `billing`. */
  readonly charge?: Charge
  /** When the request arrived. Milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds until the first content; absent if there was none. */
  readonly firstByteMs?: number
  /** Milliseconds until the end. */
  readonly totalMs: number
}

/**
 * What a charge is based on: tokens `reported` by the vendor; `estimated` by the gateway for a complete response;
 * `delivered`: estimated for what a client received before it disconnected; `sent`: estimated for the prompt of a client
 * that disconnected before it received anything; `none`: nothing was charged.
 */
export type ChargeBasis = 'reported' | 'estimated' | 'delivered' | 'sent' | 'none'

/** An amount charged, in decimal strings. */
export interface Charge {
  /** The amounts of `lines` and `rounding` add up to it exactly. */
  readonly cost: string
  /** The part of `cost` that exceeded the hold. */
  readonly overage: string
  /** The currency of the amounts. */
  readonly currency: string
  /** What the charge is based on. */
  readonly basis: ChargeBasis
  /** Each part of the cost. Computed when it is read, and for JSON; a copy by spreading does not have it. */
  readonly lines: readonly ChargeLine[]
  /** What rounding up to a millionth added, less than `0.000001`. Computed like `lines`. */
  readonly rounding: string
  /** The price table that the price is from. Absent for a price in the options. */
  readonly prices?: PriceSource
  /**
   * What the vendor counted although the price has no rate of its own for it, by its name in a price, such as `inputAudio`,
   * `tools.web_search` or `serviceTiers.priority`. It was charged at the rate that is the default. Absent if there was nothing.
   */
  readonly unrated?: readonly string[]
}
