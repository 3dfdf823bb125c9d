import type { Hold, HoldVerdict, Ledger, Settlement } from '../money/ledger/contract.ts'
import type { LimitClaim, LimitStore, LimitReturn, LimitVerdict } from '../money/limits/contract.ts'

/** Updates limits and ledger in one round trip, for a database that keeps both. */
export interface AdmissionStore {
  /** The limit store it combines. The gateway uses an admission store only together with exactly these two stores. */
  readonly limits: LimitStore
  /** The ledger of the same database. */
  readonly ledger: Ledger
  /**
   * Required. `limits.take(claim)` and `ledger.hold(hold)` in one atomic step, all or nothing. If the limits reject the
   * claim, nothing is held and `hold` is absent. If the hold is rejected, nothing is drawn from the limits, and `left` and
   * `free` are the current values. If several nodes keep the data, it may use steps as `limits.take` may: the first one takes
   * the hold and draws from the buckets of its account. A hold that a later step undoes leaves no entry in the ledger.
   */
  admit(claim: LimitClaim, hold: Hold): Promise<AdmissionVerdict> | AdmissionVerdict
  /** Required. Ends requests, in any order. Idempotent for the ledger, so it can be repeated after a failure. */
  finish(endings: readonly AdmissionEnd[]): Promise<void> | void
}

/** The result of `admit`. */
export interface AdmissionVerdict {
  /** As of `limits.take`. */
  readonly limits: LimitVerdict
  /** As of `ledger.hold`. Absent if the limits rejected the claim. */
  readonly hold?: HoldVerdict
}

/** The end of one request, for limits and ledger. */
export interface AdmissionEnd {
  /** For `limits.give`. */
  readonly returned?: LimitReturn
  /** For `ledger.settle`, or, without an amount, for `ledger.release`. */
  readonly end?: Pick<Hold, 'id' | 'account'> & Partial<Settlement>
}
