/**
 * Several stores in one place: what `postgres(pool)` and its like return, and what `createGateway({ storage })` takes.
 * Each store can be replaced alone: `storage: { ...postgres(pool), limits: redis(client).limits }`. What a bundle lacks is
 * kept in the memory of the process.
 */
import type { KeyStore } from '../auth/contract.ts'
import type { Hold, HoldVerdict, Ledger, Settlement } from '../billing/contract.ts'
import type { IdempotencyStore } from '../idempotency/contract.ts'
import type { LimitClaim, LimitStore, LimitReturn, LimitVerdict } from '../limits/contract.ts'
import type { ResponseStore } from '../responses/contract.ts'
import type { TaskStore } from '../tasks/contract.ts'
import type { UsageStore } from '../usage/contract.ts'

export interface StorageBundle {
  readonly keys?: KeyStore
  readonly limits?: LimitStore
  readonly ledger?: Ledger
  readonly usage?: UsageStore
  readonly tasks?: TaskStore
  readonly idempotency?: IdempotencyStore
  readonly responses?: ResponseStore
  /** Optional. Limits and ledger in one step, where both are kept in one place. */
  readonly joint?: JointStore
  /** Optional. Gives back what all of them hold. Called once by `gateway.close()`, after the stores' own. */
  close?(): Promise<void> | void
}

/** The two steps of a call that concern limits and ledger alike, each in one round trip. */
export interface JointStore {
  /** The stores it stands for. It is only used where the gateway uses these very objects. */
  readonly limits: LimitStore
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

export interface JointVerdict {
  readonly limits: LimitVerdict
  readonly hold?: HoldVerdict
}

export interface CallEnd {
  /** For `limits.give`. */
  readonly returned?: LimitReturn
  /** For `ledger.settle`, or, without an amount, for `ledger.release`. */
  readonly end?: Pick<Hold, 'id' | 'account'> & Partial<Settlement>
}
