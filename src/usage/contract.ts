import type { Page, PageRequest } from '../billing/contract.ts'
import type { ChargeBasis } from '../billing/receipt.ts'
import type { ErrorCode } from '../errors.ts'

/** The usage of one request. Flat; JSON values except the amounts, which are bigints in micro-units of the currency. */
export interface UsageRecord {
  /** The request id, as in `x-request-id`. */
  readonly id: string
  /** The account of the caller. */
  readonly account: string
  /** The group of the caller. */
  readonly group: string
  /** Public id of the key. */
  readonly key?: string
  /** Name of the endpoint, such as `chat.completions`. */
  readonly endpoint: string
  /** Model name in the request. */
  readonly model: string
  /** The provider of the last attempt. */
  readonly provider?: string
  /** That provider's name for the model. */
  readonly providerModel?: string
  /** How the request ended, as in `Receipt`. */
  readonly outcome: 'completed' | 'failed' | 'cancelled'
  /** Error code of a failed request. */
  readonly code?: ErrorCode
  /** Whether the response was streamed. */
  readonly stream: boolean
  /** Tokens of the prompt. */
  readonly promptTokens: number
  /** Prompt tokens read from the vendor's cache, included in `promptTokens`. */
  readonly cachedTokens: number
  /** Tokens of the response. */
  readonly completionTokens: number
  /** Completion tokens spent on reasoning, included in `completionTokens`. */
  readonly reasoningTokens: number
  /** Number of images. */
  readonly images: number
  /** Seconds of video or audio. */
  readonly seconds: number
  /** Micro-units charged. */
  readonly cost: bigint
  /** The part of `cost` that exceeded the hold. */
  readonly overage: bigint
  /** What the charge is based on. */
  readonly basis: ChargeBasis
  /** Milliseconds since the epoch, by the gateway's clock. */
  readonly startedAt: number
  /** Milliseconds until the first content. */
  readonly firstByteMs?: number
  /** Milliseconds until the end of the response. */
  readonly totalMs: number
}

/** Selects records. An absent field matches every record. */
export interface UsageFilter {
  /** Only records of this account. */
  readonly account?: string
  /** Only records of the key with this public id. */
  readonly key?: string
  /** Only records of this model. */
  readonly model?: string
  /** Earliest `startedAt`, inclusive. Milliseconds since the epoch. */
  readonly from?: number
  /** Latest `startedAt`, exclusive. Milliseconds since the epoch. */
  readonly to?: number
}

/** A field by which sums of usage can be grouped. */
export type UsageDimension = 'day' | 'account' | 'group' | 'key' | 'model' | 'endpoint'

/** A query for sums of usage. */
export interface UsageQuestion extends UsageFilter {
  /** One row for each combination of these that occurs. Empty: one row in total. */
  readonly by: readonly UsageDimension[]
  /** Time zone of the days, as minutes ahead of UTC, such as 480 for Beijing. Default 0. */
  readonly offsetMinutes?: number
}

/** One row of sums over records. */
export interface UsageSummary {
  /** Only the requested dimensions are present. `day` is `YYYY-MM-DD`; `key` is empty for requests without a key. */
  readonly day?: string
  /** The account of the row. */
  readonly account?: string
  /** The group of the row. */
  readonly group?: string
  /** Public id of the key of the row. */
  readonly key?: string
  /** The model of the row. */
  readonly model?: string
  /** The endpoint of the row. */
  readonly endpoint?: string
  /** Number of requests. */
  readonly requests: number
  /** Requests that failed or were cancelled. */
  readonly incomplete: number
  /** Sum of the prompt tokens. */
  readonly promptTokens: number
  /** Sum of the prompt tokens read from a cache. */
  readonly cachedTokens: number
  /** Sum of the completion tokens. */
  readonly completionTokens: number
  /** Sum of the reasoning tokens. */
  readonly reasoningTokens: number
  /** Number of images. */
  readonly images: number
  /** Seconds of video or audio. */
  readonly seconds: number
  /** Sum of the amounts charged, in micro-units. */
  readonly cost: bigint
}

/**
 * Where usage is recorded: one record per request, for the pages on which accounts see their usage. Charges do not
 * depend on it; the `Ledger` holds the money.
 *
 * - Required. Every later call observes what was appended before a promise resolved.
 * - Required. Appending a record whose id exists changes nothing, so that an append can be retried.
 * - Optional. Returns its result synchronously instead of as a promise.
 */
export interface UsageStore {
  /** Required. Adds records. If it rejects, any part of them may have been added. */
  append(records: readonly UsageRecord[]): Promise<void> | void
  /** Required. Records by `startedAt`, newest first; records with equal times by id, descending. */
  list(question: UsageFilter & PageRequest): Promise<Page<UsageRecord>> | Page<UsageRecord>
  /** Recommended. The record with this id, of any account. */
  find?(id: string): Promise<UsageRecord | undefined> | UsageRecord | undefined
  /** Required. Sums, ordered by the requested dimensions. */
  summarise(question: UsageQuestion): Promise<UsageSummary[]> | UsageSummary[]
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void>
}
