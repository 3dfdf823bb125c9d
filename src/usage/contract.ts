import type { Page, PageRequest } from '../billing/contract.ts'
import type { ChargeBasis } from '../billing/receipt.ts'
import type { ErrorCode } from '../errors.ts'

/** The usage of one request. Flat; JSON values except the amounts, which are bigints in micro-units of the currency. */
export interface UsageRecord {
  /** The request id, as in `x-request-id`. */
  readonly id: string
  readonly account: string
  readonly group: string
  /** Public id of the key. */
  readonly key?: string
  /** Name of the endpoint, such as `chat.completions`. */
  readonly endpoint: string
  /** Model name in the request. */
  readonly model: string
  readonly provider?: string
  readonly providerModel?: string
  readonly outcome: 'completed' | 'failed' | 'cancelled'
  readonly code?: ErrorCode
  readonly stream: boolean
  readonly promptTokens: number
  /** Prompt tokens read from the vendor's cache, included in `promptTokens`. */
  readonly cachedTokens: number
  readonly completionTokens: number
  /** Completion tokens spent on reasoning, included in `completionTokens`. */
  readonly reasoningTokens: number
  readonly images: number
  /** Seconds of video or audio. */
  readonly seconds: number
  /** Micro-units charged. */
  readonly cost: bigint
  /** The part of `cost` that exceeded the hold. */
  readonly overage: bigint
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
  readonly account?: string
  readonly key?: string
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
  readonly account?: string
  readonly group?: string
  readonly key?: string
  readonly model?: string
  readonly endpoint?: string
  readonly requests: number
  /** Requests that failed or were cancelled. */
  readonly incomplete: number
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  readonly images: number
  readonly seconds: number
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
