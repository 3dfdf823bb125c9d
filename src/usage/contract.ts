/**
 * Where usage is recorded: one record for each call of a model, for the pages on which accounts see what they used.
 * Charging does not depend on it; the ledger (`billing/contract.ts`) is the truth about money.
 *
 * - Required. What was appended before a promise resolved is seen by every later call.
 * - Required. A record whose id is there already is left as it is: appending may be repeated after a failure.
 * - An answer may be given at once or as a promise.
 */
import type { Page, PageRequest } from '../billing/contract.ts'
import type { ErrorCode } from '../errors.ts'

/**
 * What a charge rests on: tokens `reported` by the vendor; `estimated` by the gateway for a complete answer; `delivered`,
 * estimated for what a client got before it left; `sent`, estimated for the question of a client that left before it got
 * anything; or `none`, nothing was charged.
 */
export type ChargeBasis = 'reported' | 'estimated' | 'delivered' | 'sent' | 'none'

/** One call of a model. Flat, and JSON but for the amounts, which are micro-units. */
export interface UsageRecord {
  /** The request id, as in `x-request-id`. */
  readonly id: string
  readonly account: string
  readonly group: string
  /** Public id of the key. */
  readonly key?: string
  /** Such as `chat.completions`. */
  readonly endpoint: string
  /** The name the client used. */
  readonly model: string
  readonly provider?: string
  readonly providerModel?: string
  readonly outcome: 'completed' | 'failed' | 'cancelled'
  readonly code?: ErrorCode
  readonly stream: boolean
  readonly promptTokens: number
  /** The part of the prompt tokens that was read from a cache. */
  readonly cachedTokens: number
  readonly completionTokens: number
  /** The part of the completion tokens that was spent on reasoning. */
  readonly reasoningTokens: number
  readonly images: number
  /** Seconds of video or audio. */
  readonly seconds: number
  readonly cost: bigint
  /** The part of the cost that was not held beforehand. */
  readonly overage: bigint
  readonly basis: ChargeBasis
  /** Milliseconds since the epoch, by the gateway's clock. */
  readonly startedAt: number
  readonly firstByteMs?: number
  readonly totalMs: number
}

/** Which records; what is absent does not restrict. */
export interface UsageFilter {
  readonly account?: string
  readonly key?: string
  readonly model?: string
  /** `startedAt` at least. */
  readonly from?: number
  /** `startedAt` less than. */
  readonly to?: number
}

export type UsageDimension = 'day' | 'account' | 'group' | 'key' | 'model' | 'endpoint'

export interface UsageQuestion extends UsageFilter {
  /** One row for each combination of these that occurs; none: one row for all. */
  readonly by: readonly UsageDimension[]
  /** Minutes by which days begin before those of UTC, such as 480 for Beijing. Default 0. */
  readonly offsetMinutes?: number
}

/** Sums over records. */
export interface UsageSummary {
  /** Only the dimensions asked for; `day` as `YYYY-MM-DD`, `key` empty for calls without one. */
  readonly day?: string
  readonly account?: string
  readonly group?: string
  readonly key?: string
  readonly model?: string
  readonly endpoint?: string
  readonly requests: number
  /** Those that failed or were cancelled. */
  readonly incomplete: number
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  readonly images: number
  readonly seconds: number
  readonly cost: bigint
}

export interface UsageStore {
  /** Required. Adds records; all of them or, on a rejection, any part. */
  append(records: readonly UsageRecord[]): Promise<void> | void
  /** Required. Records, newest first; of equal times the greater id first. */
  list(question: UsageFilter & PageRequest): Promise<Page<UsageRecord>> | Page<UsageRecord>
  /** Recommended. The record with this id, whoever's it is. */
  find?(id: string): Promise<UsageRecord | undefined> | UsageRecord | undefined
  /** Required. Sums, ordered by the dimensions as they were asked for. */
  summarise(question: UsageQuestion): Promise<UsageSummary[]> | UsageSummary[]
  /** Optional. Gives back what the store holds. Called once by `gateway.close()`. */
  close?(): Promise<void>
}
