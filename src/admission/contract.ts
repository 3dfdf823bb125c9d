/** A store that keeps limits and ledger in one place can take both in one step. */
import type { Hold, HoldVerdict, Ledger, Settlement } from '../billing/contract.ts'
import type { LimitClaim, LimitStore, LimitReturn, LimitVerdict } from '../limits/contract.ts'

/** The two steps of a call that concern limits and ledger alike, each in one round trip. */
export interface JointStore {
  /** The stores it stands for. It is only used where the gateway uses these very objects. */
  readonly limits: LimitStore
  /** The ledger of the same database. */
  readonly ledger: Ledger
  /**
   * Required. `limits.take(claim)` and `ledger.hold(hold)` as one atomic step, all or nothing: a claim that is not
   * admitted holds no money (`hold` is then absent), and a hold that is refused draws and holds nothing of the limits but
   * `left` and `free` still tell how they stand.
   */
  admit(claim: LimitClaim, hold: Hold): Promise<JointVerdict> | JointVerdict
  /** Required. What has become of calls, in any order. Repeating it after a failure does no harm to the ledger. */
  finish(endings: readonly CallEnd[]): Promise<void> | void
}

/** The result of `admit`. */
export interface JointVerdict {
  /** As of `limits.take`. */
  readonly limits: LimitVerdict
  /** As of `ledger.hold`. Absent if the limits rejected the claim. */
  readonly hold?: HoldVerdict
}

/** The end of one request, for limits and ledger. */
export interface CallEnd {
  /** For `limits.give`. */
  readonly returned?: LimitReturn
  /** For `ledger.settle`, or, without an amount, for `ledger.release`. */
  readonly end?: Pick<Hold, 'id' | 'account'> & Partial<Settlement>
}
