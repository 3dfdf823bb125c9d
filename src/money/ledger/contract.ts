import type { CapCharge, CapClaim, CapState, LedgerCaps, AlertThreshold } from '../caps/contract.ts'
import type { Allotment, LedgerLots } from '../lots/contract.ts'
import type { Page, PageRequest } from '../../records/page.ts'
export type { Page, PageRequest } from '../../records/page.ts'

/** The state of one account. */
export interface LedgerAccount {
  /** The id of the account, as in keys and receipts. */
  readonly id: string
  /** Available for new holds. Negative after a settlement that exceeded its hold, or if the account is unlimited. */
  readonly balance: bigint
  /** Sum of the open holds, which are already subtracted from the balance. */
  readonly held: bigint
  /** Of `held`, what processes have drawn in advance: the holds of slices. Default 0. */
  readonly ahead?: bigint
  /** Whether holds succeed regardless of the balance. */
  readonly unlimited: boolean
  /** A label chosen by the host. */
  readonly name?: string
  /** Milliseconds since the epoch, by the store's clock. */
  readonly createdAt: number
}

/** An amount to reserve for a request or a task. */
export interface Hold {
  /** Id of the request or task. Never used for a second hold. */
  readonly id: string
  /** The account that pays. */
  readonly account: string
  /** Not negative. */
  readonly amount: bigint
  /** Milliseconds after which the amount returns to the balance, unless the hold is renewed or ended before. */
  readonly leaseMs: number
  /**
   * True for work that outlives this process, such as a video. The hold then survives a crash of the database even where a
   * store may otherwise trade that for speed. Default false.
   */
  readonly durable?: boolean
  /** Caps that the hold must fit into. Only for a ledger with `caps`. Default none. */
  readonly caps?: readonly CapClaim[]
  /** Tokens that the hold counts for its caps. Not negative. Default 0. */
  readonly tokens?: bigint
}

/** The result of a hold. */
export interface HoldVerdict {
  /**
   * `held`: the amount is reserved, by this or an earlier call with this id. `insufficient`: the balance is too small, or
   * the account is unknown; nothing changed. `ended`: the hold was already settled or released; nothing changed.
   * `capped`: the hold does not fit into a cap; nothing changed.
   */
  readonly outcome: 'held' | 'insufficient' | 'ended' | 'capped'
  /** The balance afterwards. */
  readonly balance: bigint
  /**
   * If `held` or `capped`: the state of each cap of the hold, in their order, with this hold if `held`. For a hold that
   * was made by an earlier call, the periods are those of that call.
   */
  readonly caps?: readonly CapState[]
}

/** The end of a hold with a charge. */
export interface Settlement {
  /** Id of the hold. */
  readonly id: string
  /** The account that pays. */
  readonly account: string
  /** The actual cost. Not negative. */
  readonly amount: bigint
  /** The caps that count the settlement, as of the verdict of its hold. Default none. */
  readonly caps?: readonly CapCharge[]
  /** Tokens used, as caps count them. Not negative. Default 0. */
  readonly tokens?: bigint
  /**
   * Records the notice of each threshold below which this settlement takes the account: credits less settlements were at least
   * `at` before and are below `at` afterwards. Not for unlimited accounts. Only for a ledger with `caps`. Default none.
   */
  readonly balanceThresholds?: readonly AlertThreshold[]
}

/** The result of a settlement. */
export interface SettleVerdict {
  /** `settled`: by this call. `already`: by an earlier call, nothing changed. `released`: released before, nothing changed. */
  readonly outcome: 'settled' | 'already' | 'released'
  /** The amount charged, by this or the earlier call. */
  readonly charged: bigint
  /** The part of `charged` that no hold covered: the hold was too small, expired, or unknown. */
  readonly overage: bigint
}

/** A payment to an account, or a correction. */
export interface Credit {
  /** The account that is credited. */
  readonly account: string
  /** Negative for a deduction. Not zero. */
  readonly amount: bigint
  /** Unique among the payments of all accounts: the id of the order or of the payment event. */
  readonly reference: string
  /** A remark of the host. */
  readonly note?: string
  /**
   * The id of a settled hold of this account of which the credit returns the charge, in whole or in part. Caps then count
   * so much less money, in the periods in which they count the settlement: all refunds together at most its amount. Only
   * for a ledger with `caps`. Default none.
   */
  readonly refunds?: string
  /** Stored in the same step. Only for a ledger with `lots`. Default none. */
  readonly allotment?: Allotment
  /**
   * For a deduction: takes only what the charges of the account, `LotState.settled`, and its open holds lack to this sum, at most
   * its balance and at most `-amount`. If that is nothing, nothing is booked. Only for a ledger with `lots`. Default: takes `-amount`.
   */
  readonly spentTo?: bigint
}

/** The result of a credit. */
export interface CreditVerdict {
  /**
   * `credited`: by this call. `already`: the same credit was made before, nothing changed. `conflict`: the reference was
   * used for another amount or account, nothing changed. `changed`: `allotment.was` is not the version, nothing changed.
   */
  readonly outcome: 'credited' | 'already' | 'conflict' | 'changed'
  /** The balance of the account afterwards. */
  readonly balance: bigint
  /** With `spentTo`: what was booked, by this or the earlier call. */
  readonly amount?: bigint
}

/** One entry of the ledger. Entries are only added, never changed. */
export interface LedgerEntry {
  /** Ascending in the order of booking. */
  readonly number: number
  /** The account of the entry. */
  readonly account: string
  /**
   * What was booked: a payment, a charge, or a hold that ended without one. `opening`: the sum of older charges, which
   * `compact` has replaced.
   */
  readonly kind: 'credit' | 'settle' | 'release' | 'opening'
  /** Reference of the credit, or id of the hold; `opening` of the sum. */
  readonly reference: string
  /** Change of the account: positive for a credit, negative for a settlement, zero for a release. */
  readonly amount: bigint
  /** Of a settlement: the part that no hold covered. */
  readonly overage: bigint
  /** The remark of a credit. */
  readonly note?: string
  /** Milliseconds since the epoch, by the store's clock. */
  readonly at: number
}

/** The result of recomputing all balances from the entries. */
export interface LedgerAudit {
  /** Number of accounts. */
  readonly accounts: number
  /** Sums over all accounts. */
  readonly credits: bigint
  /** Sum of the balances. */
  readonly balances: bigint
  /** Sum of the open holds. */
  readonly holds: bigint
  /** Sum of the charges. */
  readonly settlements: bigint
  /** Accounts whose balance differs from `credits - open holds - settlements`. Always empty unless data is corrupt. */
  readonly faults: readonly {
    /** The account. */
    readonly account: string
    /** The balance as stored. */
    readonly balance: bigint
    /** The balance by the entries. */
    readonly expected: bigint
  }[]
}

type Result<T> = Promise<T> | T

/**
 * Where money is kept. Amounts are micro-units of the gateway's single currency, as bigints between -2^53 and 2^53.
 * Balances and sums may exceed that and are exact up to 10^18.
 *
 * `hold` reserves the maximum cost of a request before any vendor is called. Exactly one of `settle` (charges the actual
 * cost) and `release` (charges nothing) ends a hold. A hold has a lease: if its process dies, the amount returns to the
 * balance when the lease expires. At any time, exactly, for each account:
 *
 *     credits = balance + open holds + settlements
 *
 * For every method:
 * - Required. Atomic with respect to all calls of all processes, and durable once its promise resolves. Rejects when the
 *   result is unknown. The call can then be repeated safely: every change is idempotent by its id or reference.
 * - Required. All times are the store's own.
 * - Recommended. At most one round trip per call.
 * - Optional. Returns its result synchronously instead of as a promise.
 */
export interface Ledger {
  /**
   * Required. Subtracts the amount from the balance if the balance is large enough or the account is unlimited, and if for
   * each cap and measure what is settled, what is held and what this hold adds are together at most the limit. A hold of
   * zero with caps is never `insufficient`; it opens an account that is unknown.
   */
  hold(hold: Hold): Result<HoldVerdict>
  /**
   * Required. Ends a hold: returns the held amount to the balance and subtracts the cost. Always succeeds: what the hold
   * does not cover is taken from the balance, which may become negative, and reported as overage. This includes holds
   * that have expired or are unknown, because the request was served.
   */
  settle(settlement: Settlement): Result<SettleVerdict>
  /**
   * Required. Ends a hold without a charge. Does nothing if it has already ended. An unknown hold is recorded as ended, so
   * that a `hold` that arrives later, out of order, has the outcome `ended`.
   */
  release(hold: Pick<Hold, 'id' | 'account'>): Result<void>
  /** Required. Extends the leases of those holds that are still open to `leaseMs` from now. */
  renew(holds: readonly Pick<Hold, 'id' | 'account'>[], leaseMs: number): Result<void>
  /** Required. Adds to a balance, at most once per reference. Opens the account if it is unknown. */
  credit(credit: Credit): Result<CreditVerdict>
  /** Required. Opens an account, or changes the given fields of an existing one. */
  open(account: { readonly id: string; readonly name?: string; readonly unlimited?: boolean }): Result<LedgerAccount>
  /** Required. The account; undefined if it is unknown. Expired holds no longer count as held. */
  account(id: string): Result<LedgerAccount | undefined>
  /** Recommended. All accounts, ordered by id. `after` may be any text: the page begins with the first id after it. */
  accounts?(page: PageRequest): Result<Page<LedgerAccount>>
  /** Recommended. The entries of one account, newest first. */
  entries?(account: string, page: PageRequest): Result<Page<LedgerEntry>>
  /**
   * Recommended. The entries of one account with greater numbers, oldest first, at most `most`; reads no others. A ledger without it
   * cannot be used with `billing.export`.
   */
  entriesAfter?(account: string, number: number, most: number): Result<readonly LedgerEntry[]>
  /** Recommended. Caps. A ledger without them cannot be used with options that set caps. */
  readonly caps?: LedgerCaps
  /** Recommended. Money that expires. A ledger without it cannot be used for credits with an end. */
  readonly lots?: LedgerLots
  /**
   * Recommended. Replaces charges and releases of an account that were booked before `before` (by the store's clock, at
   * least roughly: in the order of booking) by one entry of the kind `opening` with their sums, the oldest first, and
   * returns how many it replaced; fewer than `most` if none are left. There is at most one such entry, which later calls
   * add to. Payments are kept. Balance, holds and audit do not change, and the amounts of all entries add up to the same.
   * The ids of the replaced holds may no longer be recognised as used.
   */
  compact?(account: string, before: number, most: number): Result<number>
  /** Required. Recomputes all balances from the entries and compares. */
  audit(): Result<LedgerAudit>
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void>
}
