import type { Page, PageRequest } from '../../money/ledger/contract.ts'
import type { ChargeBasis, Receipt } from '../../money/receipt.ts'
import type { ErrorCode } from '../../errors.ts'
import type { LargestRows, NamedRows } from './row-selection.ts'
import type { UsageUnits } from './units.ts'

/** What a record has as its receipt has it. */
type ReceivedField =
  | 'account'
  | 'group'
  | 'key'
  | 'user'
  | 'session'
  | 'agent'
  | 'tags'
  | 'endpoint'
  | 'model'
  | 'provider'
  | 'providerModel'
  | 'attemptLog'
  | 'stream'
  | 'startedAt'
  | 'firstByteMs'
  | 'totalMs'

/** The usage of one request. Flat; JSON values except the amounts, which are bigints in micro-units of the currency unless it says otherwise. */
export interface UsageRecord extends UsageUnits, Pick<Receipt, ReceivedField> {
  /** The request id, as in `x-request-id`. Of a video: of the request that submitted it. */
  readonly id: string
  /**
   * How the request ended, as in `Receipt`; or `refused`: the gateway rejected the request of a known caller before any
   * attempt, for example because of a limit. Refused requests are listed, but never summed.
   */
  readonly outcome: 'completed' | 'failed' | 'cancelled' | 'refused'
  /** Error code of a failed or refused request. */
  readonly code?: ErrorCode
  /** Number of attempts, including retries. Absent in records of earlier versions. */
  readonly attempts?: number
  /** Micro-units charged. */
  readonly cost: bigint
  /** The part of `cost` that exceeded the hold. */
  readonly overage: bigint
  /** What the charge is based on. */
  readonly basis: ChargeBasis
  /**
   * What the request cost the host at its vendors, as far as their usage is known, in billionths of the currency: of all
   * attempts, whether or not they were charged. Absent if the cost of a deployment is not known. Not for customers.
   */
  readonly vendorCost?: bigint
  /** The parts of the cost, with the option `usage.lines`. */
  readonly lines?: readonly UsageLine[]
}

/** A part of the cost of a request: `quantity` / `per` × `price`. */
export interface UsageLine {
  /** What is charged, by its name in a price, such as `input`. */
  readonly item: string
  /** How much of it: a whole number, at most 2^53. Seconds and hours are counted in milliseconds. */
  readonly quantity: number
  /** The quantity to which `price` refers: 1,000,000 for tokens, 1 for images and calls. */
  readonly per: number
  /** The price of `per`. A decimal string. */
  readonly price: string
}

/** The sum of equal lines of the requests of one account and model. */
export interface UsageLineSum extends UsageLine {
  /** The account. */
  readonly account: string
  /** The model. */
  readonly model: string
}

/** Selects the records of which lines are summed. */
export type UsageLineFilter = Pick<UsageFilter, 'account' | 'from' | 'to'>

/** Selects records to anonymise. */
export interface Anonymisation {
  /** The account of the records. */
  readonly account: string
  /** Only records of this user. Default: all of the account. */
  readonly user?: string
  /** The account that the records get. */
  readonly as: string
}

/** Selects records. An absent field matches every record. */
export interface UsageFilter {
  /** Only records of this account. */
  readonly account?: string
  /** Only records of the key with this public id. */
  readonly key?: string
  /** Only records of this model. */
  readonly model?: string
  /** Only records of this user. */
  readonly user?: string
  /** Only records with this tag. */
  readonly tag?: string
  /** Only records of this session. */
  readonly session?: string
  /** Only records with this outcome. */
  readonly outcome?: UsageRecord['outcome']
  /** Only records with this error code. */
  readonly code?: string
  /** Earliest `startedAt`, inclusive. Milliseconds since the epoch. */
  readonly from?: number
  /** Latest `startedAt`, exclusive. Milliseconds since the epoch. */
  readonly to?: number
}

/** Selects the completed requests of which durations are read. */
export interface DurationQuestion extends Omit<UsageFilter, 'from' | 'to' | 'outcome' | 'code'> {
  /** The starts of consecutive ranges, ascending, at most 100 of them. Milliseconds since the epoch. */
  readonly starts: readonly number[]
  /** End of the last range, exclusive. Milliseconds since the epoch. */
  readonly to: number
  /** The most requests of each range, at most 1,000. */
  readonly most: number
}

/** The durations of some requests, in any order. */
export interface Durations {
  /** Milliseconds until the end of the response, of each request. */
  readonly totalMs: readonly number[]
  /** Milliseconds until the first content, of each request that has content. */
  readonly firstByteMs: readonly number[]
}

/** The fields by which sums of usage can be grouped. */
export const usageDimensions = [
  'day',
  'period',
  'account',
  'group',
  'key',
  'model',
  'provider',
  'providerModel',
  'endpoint',
  'user',
  'tag',
  'session',
] as const

/** One of them. */
export type UsageDimension = (typeof usageDimensions)[number]

type RecordDimension = Exclude<UsageDimension, 'day' | 'period' | 'tag'>

/** A query for sums of usage. */
export interface UsageQuestion extends UsageFilter {
  /** One row for each combination of these that occurs. Empty: one row in total. */
  readonly by: readonly UsageDimension[]
  /** Time zone of the days and periods, as minutes ahead of UTC, such as 480 for Beijing. Default 0. */
  readonly offsetMinutes?: number
  /**
   * Length of the periods of the dimension `period`, in whole milliseconds. Periods begin at multiples of it, in the time
   * zone. Of a length or offset that is no whole number of quarter-hours, each matching record may be read. Default one hour.
   */
  readonly periodMs?: number
  /** Only rows with one of these values are needed. A store may return others too. */
  readonly only?: NamedRows
  /** Only so many rows are needed: those with the largest sums. A store may return more. */
  readonly largest?: LargestRows
}

/**
 * One row of sums over records. Only the requested dimensions are present; `key`, `provider`, `providerModel`, `user`, `tag` and
 * `session` are empty for requests without one. `provider` and `providerModel` are not for customers.
 */
export interface UsageSummary extends UsageUnits, Partial<Pick<UsageRecord, RecordDimension>> {
  /** As `YYYY-MM-DD`. */
  readonly day?: string
  /** The start of the period of the row. Milliseconds since the epoch. */
  readonly period?: number
  /** The tag of the row. A request with several counts once for each of them. */
  readonly tag?: string
  /** Number of requests. */
  readonly requests: number
  /** Requests that failed or were cancelled. */
  readonly incomplete: number
  /** Sum of the amounts charged, in micro-units. */
  readonly cost: bigint
  /** Sum of what requests cost the host, in billionths of the currency. Not for customers. */
  readonly vendorCost: bigint
  /** Requests of which it is not known what they cost the host. */
  readonly uncosted: number
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
  /**
   * Recommended. Like `append`, for records with the outcome `refused`, and only for these. They are listed, found, removed
   * and anonymised as all others, but no sum counts them. Without it, refused requests are not recorded.
   */
  appendRefused?(records: readonly UsageRecord[]): Promise<void> | void
  /** Required. Records by `startedAt`, newest first; records with equal times by id, descending. */
  list(question: UsageFilter & PageRequest): Promise<Page<UsageRecord>> | Page<UsageRecord>
  /** Recommended. The record with this id, of any account. */
  find?(id: string): Promise<UsageRecord | undefined> | UsageRecord | undefined
  /**
   * Required. Sums, ordered by the requested dimensions. May take time in proportion to the number of matching records if
   * the question names `session`, `outcome` or `code`.
   */
  summarise(question: UsageQuestion): Promise<UsageSummary[]> | UsageSummary[]
  /**
   * Recommended. The durations of the last completed requests of each range that match, one item for each range. Its time
   * must not grow with the number of records: of a filter that selects very many of them, a part may be read. Without it,
   * the requests of each range are listed.
   */
  durations?(question: DurationQuestion): Promise<Durations[]> | Durations[]
  /**
   * Recommended. Sums of equal lines of the selected records, ordered by account, model, item, `per` and price. May take
   * time in proportion to the number of the records.
   */
  sumLines?(filter: UsageLineFilter): Promise<UsageLineSum[]> | UsageLineSum[]
  /**
   * Recommended. Removes records that started before `before`, the oldest first, at most `most` of them, and returns how
   * many; fewer than `most` if none are left. They are no longer listed and found. Sums over times from `before` on do not
   * change, sums over earlier times may still count them. `only`: of refused requests alone; required with `appendRefused`.
   */
  removeBefore?(before: number, most: number, only?: 'refused'): Promise<number> | number
  /**
   * Recommended. Takes key, user, session, agent and tags from the selected records and gives them the account `as`, in steps:
   * returns whether to call it again. Sums change likewise. Registered users are forgotten: those of the account, or the
   * selected one.
   */
  anonymise?(anonymisation: Anonymisation): Promise<boolean> | boolean
  /**
   * Recommended. Registers users and returns for each whether it is registered: a new one is, unless `most` users of its
   * account are. All processes together never register more. Without it, each process counts on its own.
   */
  admitUsers?(users: readonly NamedUser[], most: number): Promise<readonly boolean[]> | readonly boolean[]
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void>
}

/** A user that a request has named. */
export interface NamedUser {
  /** The account of the request. */
  readonly account: string
  /** The user. */
  readonly user: string
}
