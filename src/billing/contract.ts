/**
 * Where money and its records are kept. Amounts are micro-units of the gateway's one currency, as bigint, each
 * between -2^53 and 2^53. Balances and sums may go beyond and are exact up to 10^18.
 *
 * The life of a payment: `hold` takes the most that a call can cost out of the balance, before anybody is called;
 * exactly one of `settle` (what it did cost) and `release` (nothing) ends it. A hold has a lease: if its process dies,
 * the money comes back by itself.
 *
 * At any time, for each account and to the last digit:
 *
 *     credits = balance + open holds + settlements
 *
 * For every method of a ledger:
 * - Required. One atomic step among all calls of all processes, and kept when its promise resolves. Rejects when the
 *   store cannot tell; the caller may then repeat it, which is safe: every change is idempotent by its id or reference.
 * - Required. All time is the store's own.
 * - Recommended. At most one round trip a call.
 * - An answer may be given at once or as a promise.
 */

export interface LedgerAccount {
  readonly id: string
  /** What is left for new holds. Below zero after a settlement that was larger than its hold, or without end. */
  readonly balance: bigint
  /** What open holds have taken out of the balance. */
  readonly held: bigint
  /** Holds are granted whatever the balance is. */
  readonly unlimited: boolean
  /** The host's name for it. */
  readonly name?: string
  /** Milliseconds since the epoch, by the store's clock. */
  readonly createdAt: number
}

export interface Hold {
  /** Names the hold, once for ever: the id of the request or the task. */
  readonly id: string
  readonly account: string
  /** Not negative. */
  readonly amount: bigint
  /** Milliseconds after which the amount goes back into the balance, unless the hold is renewed or ended. */
  readonly leaseMs: number
}

export interface HoldVerdict {
  /**
   * `held`: the amount is taken, now or by an earlier call with this id. `insufficient`: the balance is smaller, nothing
   * changed; an unknown account has no balance. `ended`: the hold was settled or released before, nothing changed.
   */
  readonly outcome: 'held' | 'insufficient' | 'ended'
  /** The balance afterwards. */
  readonly balance: bigint
}

export interface Settlement {
  /** The id of the hold. */
  readonly id: string
  readonly account: string
  /** What the call did cost. Not negative. */
  readonly amount: bigint
}

export interface SettleVerdict {
  /** `settled`: now. `already`: by an earlier call, nothing changed. `released`: it was released before, nothing changed. */
  readonly outcome: 'settled' | 'already' | 'released'
  /** What was charged, now or then. */
  readonly charged: bigint
  /** The part of it that the hold did not cover: it was too small, its lease had run out, or there was none. */
  readonly overage: bigint
}

export interface Credit {
  readonly account: string
  /** Negative to take something back. Not zero. */
  readonly amount: bigint
  /** Names the payment, once for ever and for all accounts: the id of the order or of the payment event. */
  readonly reference: string
  /** The host's remark. */
  readonly note?: string
}

export interface CreditVerdict {
  /**
   * `credited`: now. `already`: this very credit was made before, nothing changed. `conflict`: the reference stands for
   * another amount or account, nothing changed.
   */
  readonly outcome: 'credited' | 'already' | 'conflict'
  /** The balance of the account afterwards. */
  readonly balance: bigint
}

/** One line of the books. Lines are only ever added. */
export interface LedgerEntry {
  /** Ascending in the order of booking. */
  readonly number: number
  readonly account: string
  readonly kind: 'credit' | 'settle' | 'release'
  /** The reference of the credit, or the id of the hold. */
  readonly reference: string
  /** What it changed: credits above zero, settlements below, releases zero. */
  readonly amount: bigint
  /** Of a settlement: the part that the hold did not cover. */
  readonly overage: bigint
  readonly note?: string
  /** Milliseconds since the epoch, by the store's clock. */
  readonly at: number
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Ask for the next page with it; absent at the end. */
  readonly next?: string
}

export interface PageRequest {
  /** Default 100, at most 1,000. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly after?: string
}

export interface LedgerAudit {
  readonly accounts: number
  /** Sums over all accounts. */
  readonly credits: bigint
  readonly balances: bigint
  readonly holds: bigint
  readonly settlements: bigint
  /** Accounts whose balance is not what credits, open holds and settlements come to. Empty, or something is badly wrong. */
  readonly faults: readonly { readonly account: string; readonly balance: bigint; readonly expected: bigint }[]
}

type Answer<T> = Promise<T> | T

export interface Ledger {
  /** Required. Takes the amount out of the balance if that is as large, or the account is unlimited. */
  hold(hold: Hold): Answer<HoldVerdict>
  /**
   * Required. Ends a hold: the balance gets back what was held and pays what it cost. Never refused for want of money: what
   * the hold does not cover is taken from the balance, below zero if need be, and told as overage. That also goes for
   * holds whose lease has run out or which the ledger does not know, because the call did take place.
   */
  settle(settlement: Settlement): Answer<SettleVerdict>
  /**
   * Required. Ends a hold without a charge. No harm to one that was ended before. A hold that is not known ends as well:
   * if it arrives later, having been overtaken, it finds itself ended.
   */
  release(hold: Pick<Hold, 'id' | 'account'>): Answer<void>
  /** Required. The holds that are still open last `leaseMs` from now. */
  renew(holds: readonly Pick<Hold, 'id' | 'account'>[], leaseMs: number): Answer<void>
  /** Required. Adds to a balance, at most once for a reference. Opens the account if it is not known. */
  credit(credit: Credit): Answer<CreditVerdict>
  /** Required. Opens an account, or changes what is given of one that exists. */
  open(account: { readonly id: string; readonly name?: string; readonly unlimited?: boolean }): Answer<LedgerAccount>
  /** Required. Holds whose lease has run out no longer count as held. */
  account(id: string): Answer<LedgerAccount | undefined>
  /** Recommended. All accounts in the order of their ids. */
  accounts?(page: PageRequest): Answer<Page<LedgerAccount>>
  /** Recommended. The books of one account, newest first. */
  entries?(account: string, page: PageRequest): Answer<Page<LedgerEntry>>
  /** Required. Adds everything up again from the entries and compares. */
  audit(): Answer<LedgerAudit>
  /** Optional. Gives back what the store holds. Called once by `gateway.close()`. */
  close?(): Promise<void>
}
