import type { Page, PageRequest } from '../../records/page.ts'

type Result<T> = Promise<T> | T

/** What a cap counts: micro-units of money charged, tokens used, or calls. */
export type CapMeasure = 'money' | 'tokens' | 'calls'

/** One whole number per measure. */
export type CapAmounts = Readonly<Record<CapMeasure, bigint>>

/** Limits per measure. An absent measure is not limited. */
export type CapLimits = Partial<CapAmounts>

/** How time is divided into the periods in which use is counted. The store's clock decides which period is the current one. */
export type CapPeriods =
  | {
      /**
       * Calendar periods: times in milliseconds since the epoch, ascending, at least two. A period begins at one of them and
       * ends before the next. A store whose clock is outside all periods rejects the call.
       */
      readonly boundaries: readonly number[]
    }
  | {
      /**
       * A rolling window: periods of `grainMs` milliseconds, the first of which began at the epoch. Use counts until
       * `rollingMs` milliseconds after the end of its period. `rollingMs` is a multiple of `grainMs`, at most a hundredfold.
       */
      readonly grainMs: number
      /** See `grainMs`. */
      readonly rollingMs: number
    }

/** A cap that a hold must fit into: a limit of what is used in a period. */
export interface CapClaim {
  /** The cap and whom it counts, at most 512 characters. Each name at most once in a hold. */
  readonly name: string
  /**
   * The kind of the periods, at most 128 characters. Use is counted separately per name, window and period, so that after
   * a change of the window, use is counted anew, and the earlier use stays where it was.
   */
  readonly window: string
  /** The periods. */
  readonly periods: CapPeriods
  /** The limits, unless `CapOverride`s of this name replace them. */
  readonly limits: CapLimits
}

/** The period in which a hold counts for a cap. Part of the hold's verdict, and passed back with its settlement. */
export interface CapPeriod {
  /** `CapClaim.name` */
  readonly name: string
  /** `CapClaim.window` */
  readonly window: string
  /** Milliseconds since the epoch. */
  readonly start: number
  /** Milliseconds since the epoch, exclusive. */
  readonly end: number
  /** Milliseconds before `start` whose use counts, too: `rollingMs` of a rolling window, otherwise 0. */
  readonly rollingMs: number
}

/** The use of a cap. */
export interface CapState extends CapPeriod {
  /**
   * When the use that counts now begins to count no longer: for a calendar period, its end; for a rolling window,
   * `rollingMs` after the end of the earliest period with use, or of the current one if there is no use.
   */
  readonly resetsAt: number
  /** What settlements used in the period and in the `rollingMs` before it, less refunds. */
  readonly settled: CapAmounts
  /** Sum of the open holds in the same time. Holds whose lease has expired do not count. */
  readonly held: CapAmounts
  /**
   * Of the calls in `held`, those for which processes have drawn in advance, by the holds of slices. Required of `LedgerCaps.read` if
   * slices are drawn. Default 0.
   */
  readonly ahead?: bigint
  /** The limits in force, with overrides. */
  readonly limits: CapLimits
}

/** A use at which a settlement records a notice. */
export interface AlertThreshold {
  /** At most 128 characters. No second notice with this id is recorded while there is one. */
  readonly id: string
  /** The level. Whole micro-units, tokens or calls. */
  readonly at: bigint
  /** The content of the notice, at most 8,192 characters. The store returns it unchanged. */
  readonly notice: string
}

/** The use of a cap by a settlement: its amount, its tokens and one call. */
export interface CapCharge extends CapPeriod {
  /**
   * Records the notice of each threshold that this settlement reaches: what is settled, as in `CapState.settled` of this
   * period, was below `at` before and is at least `at` afterwards. Default none.
   */
  readonly thresholds?: readonly (AlertThreshold & {
    /** What is compared with `at`. */
    readonly measure: CapMeasure
  })[]
}

/** Limits that replace those of the claims of one name, for all windows. */
export interface CapOverride {
  /** `CapClaim.name` */
  readonly name: string
  /**
   * The limits by measure. Null removes a limit. A measure that is absent keeps its limit: that of the override without
   * `until`, otherwise that of the claim.
   */
  readonly limits: Readonly<Partial<Record<CapMeasure, bigint | null>>>
  /**
   * Milliseconds since the epoch, by the store's clock: the override applies before this time and takes precedence over
   * the one without `until`. Default: applies until it is replaced.
   */
  readonly until?: number
}

/** What a settlement that reached a threshold has recorded. */
export interface Notice {
  /** `AlertThreshold.id` */
  readonly id: string
  /** `AlertThreshold.notice` */
  readonly notice: string
  /** The id of the settlement that caused the notice. */
  readonly settlement: string
  /** The account of that settlement. */
  readonly account: string
  /** What was settled in the period, or credits less settlements of the account, with this settlement. */
  readonly value: bigint
  /** When the notice was recorded. Milliseconds since the epoch, by the store's clock. */
  readonly at: number
  /** How often the notice was claimed, including this time. */
  readonly attempts: number
}

/** Selects notices and a page of them. */
export interface NoticeQuestion extends PageRequest {
  /** Only notices of settlements of this account. */
  readonly account?: string
}

/**
 * The caps of a ledger. A cap counts per period what holds reserve and settlements use: money, tokens, and one call for
 * each hold. `Ledger.hold` and `Ledger.settle` change balance and caps in one atomic step, so that a cap is never passed,
 * whatever runs concurrently.
 *
 * - Required. A hold, its settlement and its refund count in the period in which the hold was made, also if they arrive in
 *   a later one. A hold that is released, or whose lease expires, does not count any more, in any period.
 * - Required. Use is kept until at least an hour after it counts no longer, a notice for at least 35 days.
 * - All requirements of `Ledger` apply.
 */
export interface LedgerCaps {
  /** Required. The state of each claim, in their order. */
  read(claims: readonly CapClaim[]): Result<readonly CapState[]>
  /**
   * Required. Stores an override, in place of an earlier one for the same name of the same kind: with or without `until`.
   * Without any limit, removes it. Applies to every hold that is made afterwards.
   */
  override(override: CapOverride): Result<void>
  /** Required. The overrides of a name that apply now: at most one without and one with `until`, in this order. */
  overrides(name: string): Result<readonly CapOverride[]>
  /**
   * Required. Takes up to `limit` notices that are not done, oldest first. A notice that was taken is not taken again
   * before `leaseMs` milliseconds have passed, by any process.
   */
  claimNotices(limit: number, leaseMs: number): Result<readonly Notice[]>
  /** Required. Ends a notice, or with `retryMs` lets it be taken again after so many milliseconds. Ignores unknown ids. */
  endNotice(id: string, retryMs?: number): Result<void>
  /** Recommended. Notices, also those that are done, newest first; those of the same time in any order, but always the same. */
  listNotices?(question: NoticeQuestion): Result<Page<Notice>>
  /**
   * Recommended. Deletes notices of settlements of an account, also those that are not done: all, or some of them. Returns
   * whether there may be more.
   */
  deleteNotices?(account: string): Result<boolean>
}

/** Milliseconds for which a ledger keeps the use of a cap after it counts no longer. */
export const capUseMs = 3_600_000

/** Milliseconds for which a ledger keeps a notice. */
export const noticeMs: number = 35 * 86_400_000
