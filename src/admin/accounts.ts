import type { LedgerAccount, LedgerAudit, LedgerEntry, Ledger, Page, PageRequest } from '../billing/contract.ts'
import { formatMoney, parseMoney } from '../billing/money.ts'
import { GatewayError, invalid } from '../errors.ts'
import type { Guard } from '../store-access/guard.ts'
import type { AdminParts } from './parts.ts'
import { requireValid, rules } from './check.ts'

/** An account, with amounts as decimal strings. */
export interface AccountView {
  /** The id of the account. */
  readonly id: string
  /** The name that the host gave the account. */
  readonly name?: string
  /** Amount available, such as `'12.5'`. */
  readonly balance: string
  /** Amount held for open requests and tasks; not included in `balance`. */
  readonly held: string
  /** Whether requests are admitted regardless of the balance. */
  readonly unlimited: boolean
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** A payment to an account. */
export interface TopUp {
  /** The account that is credited. */
  readonly account: string
  /** A decimal string, such as `'50'`. */
  readonly amount: string
  /** Unique id of the order or payment event. A payment with the same reference is never counted twice. */
  readonly reference: string
  /** A remark, stored with the entry. */
  readonly note?: string
}

/** The result of a payment. */
export interface Credited {
  /** The balance afterwards. */
  readonly balance: string
  /** Whether the reference was already used for the same payment, so that nothing changed. */
  readonly repeated: boolean
}

/** A ledger entry, with amounts as decimal strings. */
export interface EntryView extends Omit<LedgerEntry, 'amount' | 'overage'> {
  /** Change of the account, as a decimal string. */
  readonly amount: string
  /** Of a settlement: the part that exceeded the hold, as a decimal string. */
  readonly overage: string
}

/** Accounts, payments and ledger entries. Methods throw a 400 without the option `billing`, and a 503 if the ledger fails. */
export class AccountAdmin {
  readonly #ledger: Ledger | undefined
  readonly #guard: Guard
  readonly #pageGuard: Guard
  readonly #minimum: bigint

  constructor({ ledger, guard, pageGuard, minimumTopUp }: AdminParts) {
    this.#ledger = ledger
    this.#guard = guard('the ledger')
    this.#pageGuard = pageGuard('the ledger')
    this.#minimum = parseMoney(minimumTopUp)
  }

  /** Opens an account, or changes the given fields of an existing one. */
  async open(account: {
    readonly id: string
    readonly name?: string
    readonly unlimited?: boolean
  }): Promise<AccountView> {
    requireValid(rules.account, account)
    return view(await this.#ask((ledger) => ledger.open(account)))
  }

  /** The account with this id; undefined if there is none. */
  async find(id: string): Promise<AccountView | undefined> {
    requireId(id, 'id')
    const account = await this.#ask((ledger) => ledger.account(id))
    return account && view(account)
  }

  /** All accounts, ordered by id. */
  async list(page: PageRequest = {}): Promise<Page<AccountView>> {
    requireValid(rules.page, page)
    return paged(await this.#page((ledger) => offering(ledger, 'accounts', 'accounts').accounts(page)), view)
  }

  /**
   * Adds a payment to an account, which is opened if it does not exist. A repeated payment with the same reference changes
   * nothing; the same reference with another amount or account throws a 409.
   */
  async topUp(payment: TopUp): Promise<Credited> {
    const micros = amountOf(payment)
    if (micros < this.#minimum) throw invalid(`A top-up is at least ${formatMoney(this.#minimum)}.`, 'amount')
    return this.#credit(payment, micros)
  }

  /** Adds to or subtracts from a balance, without a minimum: for corrections and refunds. */
  async adjust(payment: TopUp): Promise<Credited> {
    const micros = amountOf(payment)
    if (micros === 0n) throw invalid('An adjustment cannot be zero.', 'amount')
    return this.#credit(payment, micros)
  }

  /** The ledger entries of an account, newest first: credits, settlements and releases. */
  async entries(account: string, page: PageRequest = {}): Promise<Page<EntryView>> {
    requireId(account, 'account')
    requireValid(rules.page, page)
    const entries = await this.#page((ledger) => offering(ledger, 'entries', 'entries').entries(account, page))
    return paged(entries, (entry) => ({
      ...entry,
      amount: formatMoney(entry.amount),
      overage: formatMoney(entry.overage),
    }))
  }

  /** Recomputes all balances from the entries. `faults` is empty unless data is corrupt. */
  async audit(): Promise<LedgerAudit> {
    return this.#page((ledger) => ledger.audit())
  }

  async #credit({ account, reference, note }: TopUp, amount: bigint) {
    const credit = { account, amount, reference, ...(note !== undefined && { note }) }
    const { outcome, balance } = await this.#ask((ledger) => ledger.credit(credit))
    if (outcome === 'conflict') {
      throw new GatewayError('conflict', {
        param: 'reference',
        message: 'This reference was already used for a different payment.',
      })
    }
    return { balance: formatMoney(balance), repeated: outcome === 'already' }
  }

  #ask<T>(question: (ledger: Ledger) => Promise<T> | T): Promise<T> {
    return this.#call(this.#guard, question)
  }

  /** For calls that may read many rows: they have a longer timeout and a separate breaker. */
  #page<T>(question: (ledger: Ledger) => Promise<T> | T): Promise<T> {
    return this.#call(this.#pageGuard, question)
  }

  async #call<T>(guard: Guard, question: (ledger: Ledger) => Promise<T> | T): Promise<T> {
    const ledger = this.#ledger
    if (ledger === undefined) throw invalid('Accounts need the option "billing".')
    return guard.call(() => question(ledger))
  }
}

function view({ balance, held, ...account }: LedgerAccount): AccountView {
  return { ...account, balance: formatMoney(balance), held: formatMoney(held) }
}

/** The amount of a valid payment in micro-units. Throws a 400 for an invalid one. */
function amountOf(payment: TopUp): bigint {
  requireValid(rules.payment, payment)
  try {
    return parseMoney(payment.amount)
  } catch (error) {
    throw invalid((error as Error).message, 'amount', error)
  }
}

/** Throws a 400 unless the value is a valid id. */
export function requireId(value: unknown, name: string): void {
  requireValid(rules.id, value, name)
}

/** The store, if it implements an optional method. Throws a 400 otherwise. */
export function offering<S extends object, M extends keyof S>(store: S, method: M, what: string): Required<Pick<S, M>> {
  if (store[method] === undefined) throw invalid(`This store does not support listing or changing ${what}.`)
  return store as Required<Pick<S, M>>
}

export function paged<From, To>({ items, ...rest }: Page<From>, map: (item: From) => To): Page<To> {
  return { ...rest, items: items.map(map) }
}
