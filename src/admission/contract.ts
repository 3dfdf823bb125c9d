import type { Hold, HoldVerdict, Ledger, Settlement } from '../money/ledger/contract.ts'
import type { LimitClaim, LimitStore, LimitReturn, LimitVerdict, RateRule } from '../money/limits/contract.ts'

/** Updates limits and ledger in one round trip, for a database that keeps both. */
export interface AdmissionStore {
  /** The limit store it combines. The gateway uses an admission store only together with exactly these two stores. */
  readonly limits: LimitStore
  /** The ledger of the same database. */
  readonly ledger: Ledger
  /** Optional. Whether `admit` draws slices. Default false. */
  readonly drawsSlices?: boolean
  /**
   * Required. `limits.take(claim)` and `ledger.hold(hold)` in one atomic step, all or nothing. If the limits reject the
   * claim, nothing is held and `hold` is absent. If the hold is rejected, nothing is drawn from the limits, and `left` and
   * `free` are the current values. If several nodes keep the data, it may use steps as `limits.take` may: the first one takes
   * the hold and draws from the buckets of its account. A hold that a later step undoes leaves no entry in the ledger.
   *
   * Required of a store that draws slices. With the call, draws a `slice` for further ones if balance, limits and caps have plenty,
   * for as many of them as it decides: all or nothing. The verdict tells for how many; `left`, `free` and `caps` are those without
   * the slice. None is drawn if the period of a cap may end before the slice. If several nodes keep the data, it need not draw one
   * of limits or caps that accounts share.
   */
  admit(claim: LimitClaim, hold: Hold, slice?: SliceWish): Promise<AdmissionVerdict> | AdmissionVerdict
  /**
   * Required. Ends requests, in any order. Idempotent for the ledger, so it can be repeated after a failure.
   *
   * Required of a store that draws slices. Before that, moves the draws of `slices`, and then returns slices. What a draw holds for
   * its caps counts in the period of its slice.
   */
  finish(endings: readonly AdmissionEnd[], slices?: SliceEnds): Promise<void> | void
}

/** How the ids of slices begin, unlike those of calls. */
export const slicePrefix = 'slice '

/**
 * What to draw for further calls like one that is admitted, so that its process can admit these without asking: for each of
 * them as much as for this one. Until it is returned, or the lease of the hold ends, it is like the hold and the claim of a
 * call.
 */
export interface SliceWish {
  /** The id of its hold and its claim: begins with `slicePrefix`. */
  readonly id: string
  /** For how many calls, at most. */
  readonly calls: number
  /** For how many milliseconds from now they may be admitted by it. */
  readonly ms: number
}

/** A call that was admitted by a slice. */
export interface SliceDraw {
  /** The id of the slice. */
  readonly slice: string
  /**
   * Its part of the slice becomes this hold, with its caps, and these places, unless it has become that before, or the call has
   * ended. All calls of a slice have the same caps.
   */
  readonly hold: Hold
  /** Has the id of the hold. Its units were drawn with the slice. */
  readonly claim: LimitClaim
}

/** A slice that admits no more calls: what is left of its hold, with its caps, and its places goes back, if it has not gone back before. */
export interface SliceReturn {
  /** The id of the slice. */
  readonly id: string
  /** The account that pays. */
  readonly account: string
  /** Names of the limits of which it holds places. */
  readonly places: readonly string[]
  /** Rates of which units are left, with these as a negative cost. */
  readonly corrections: readonly RateRule[]
}

/** What became of slices. Can be repeated without `corrections`. */
export interface SliceEnds {
  /** The calls that slices admitted. */
  readonly draws: readonly SliceDraw[]
  /** The slices that have ended. */
  readonly returns: readonly SliceReturn[]
}

/** The result of `admit`. */
export interface AdmissionVerdict {
  /** As of `limits.take`. */
  readonly limits: LimitVerdict
  /** As of `ledger.hold`. Absent if the limits rejected the claim. */
  readonly hold?: HoldVerdict
  /** For how many further calls a slice was drawn. Default 0. */
  readonly ahead?: number
}

/** The end of one request, for limits and ledger. */
export interface AdmissionEnd {
  /** For `limits.give`. */
  readonly returned?: LimitReturn
  /** For `ledger.settle`, or, without an amount, for `ledger.release`. */
  readonly end?: Pick<Hold, 'id' | 'account'> & Partial<Settlement>
}
