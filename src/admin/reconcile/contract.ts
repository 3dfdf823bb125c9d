/** Tokens and requests. */
export interface Counts {
  /** Number of requests; 0 if the vendor does not say it. */
  readonly requests: number
  /** Tokens of prompts, those of the cache included. */
  readonly inputTokens: number
  /** Those read from a cache. */
  readonly cachedTokens: number
  /** Tokens of answers. */
  readonly outputTokens: number
}

/** What a vendor says was used, in a period of its report. */
export interface VendorUsage extends Omit<Counts, 'requests'> {
  /** Start of the period. Milliseconds since the epoch. */
  readonly start: number
  /** Its end, exclusive. Periods of a report have one length: the shorter, the more differences get their cause. */
  readonly end: number
  /** The vendor's name of the model. */
  readonly model: string
  /** The service tier. Absent: the usual one. */
  readonly tier?: string
  /** Number of requests. Absent if the vendor does not say it. */
  readonly requests?: number
}

/** What a vendor charges for a model on a day. */
export interface VendorCharge {
  /** In UTC, as `YYYY-MM-DD`. */
  readonly day: string
  /** The vendor's name of the model. */
  readonly model: string
  /** A decimal string in the currency of the report. */
  readonly cost: string
}

/** A report of a vendor. */
export interface VendorReport {
  /** What was used. */
  readonly usage: readonly VendorUsage[]
  /** What is charged for it. */
  readonly charges: readonly VendorCharge[]
}

/** Reads the report of a vendor about a period. Milliseconds since the epoch, `to` exclusive, both at midnight in UTC. */
export type VendorReportReader = (period: { readonly from: number; readonly to: number }) => Promise<VendorReport>

/**
 * Why books and bill differ. `cut`: answers that clients left, whose tokens are an estimate here. `retry`: attempts that failed, of
 * which the vendor billed some. `cache`: equal tokens, others of them from the cache. `clock`: calls that count in the period before
 * or after. `other`: calls that are not in the books, such as those of other programs with the same key. `tier`: another service
 * tier. `price`: models whose price is not known.
 */
export type DifferenceCause = 'cut' | 'retry' | 'cache' | 'clock' | 'other' | 'tier' | 'price'
