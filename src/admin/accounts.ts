/** Accounts and their money. */
import type { LedgerAccount, LedgerAudit, LedgerEntry, Ledger, Page, PageRequest } from '../billing/contract.ts'
import { formatMoney, parseMoney } from '../billing/money.ts'
import { GatewayError, invalid } from '../errors.ts'
import type { Guard } from '../store-access/guard.ts'
import type { AdminParts } from './parts.ts'
import { requireValid, rules } from './check.ts'

export interface AccountView {
  readonly id: string
  readonly name?: string
  /** What can still be spent, such as `'12.5'`. */
  readonly balance: string
  /** What calls under way have taken out of it until they end. */
  readonly held: string
  /** May spend whatever the balance is. */
  readonly unlimited: boolean
  readonly createdAt: number
}

export interface TopUp {
  readonly account: string
  /** Such as `'50'`. */
  readonly amount: string
  /** Names the payment, once for ever: the id of the order or of the payment event. The same one never counts twice. */
  readonly reference: string
  readonly note?: string
}

export interface Credited {
  readonly balance: string
  /** The reference was known: nothing was changed. */
  readonly repeated: boolean
}

export interface EntryView extends Omit<LedgerEntry, 'amount' | 'overage'> {
  readonly amount: string
  readonly overage: string
}

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

  /** Opens an account, or changes what is given of one that exists. */
  async open(account: {
    readonly id: string
    readonly name?: string
    readonly unlimited?: boolean
  }): Promise<AccountView> {
    requireValid(rules.account, account)
    return view(await this.#ask((ledger) => ledger.open(account)))
  }

  /** Undefined when there is none. */
  async find(id: string): Promise<AccountView | undefined> {
    requireId(id, 'id')
    const account = await this.#ask((ledger) => ledger.account(id))
    return account && view(account)
  }

  async list(page: PageRequest = {}): Promise<Page<AccountView>> {
    requireValid(rules.page, page)
    return paged(await this.#page((ledger) => offering(ledger, 'accounts', 'accounts').accounts(page)), view)
  }

  /**
   * Adds to the balance of an account, which is opened if it is not known. Repeating a top-up with its reference changes
   * nothing; the reference with another amount or account is a 409.
   */
  async topUp(payment: TopUp): Promise<Credited> {
    const micros = amountOf(payment)
    if (micros < this.#minimum) throw invalid(`A top-up is at least ${formatMoney(this.#minimum)}.`, 'amount')
    return this.#credit(payment, micros)
  }

  /** Adds to or takes from a balance without a minimum: for corrections, and refunds outside of calls. */
  async adjust(payment: TopUp): Promise<Credited> {
    const micros = amountOf(payment)
    if (micros === 0n) throw invalid('An adjustment cannot be zero.', 'amount')
    return this.#credit(payment, micros)
  }

  /** The books of an account, newest first: credits, settlements, releases. */
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

  /** Adds all books up again. `faults` is empty, or something is badly wrong. */
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

  /** For what may read much: it has a longer deadline, and a failure of its own does not keep money from being booked. */
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

/** Throws 400 for anything that is wrong with the payment. */
function amountOf(payment: TopUp): bigint {
  requireValid(rules.payment, payment)
  try {
    return parseMoney(payment.amount)
  } catch (error) {
    throw invalid((error as Error).message, 'amount', error)
  }
}

/** The rule for ids that come from the host. */
export function requireId(value: unknown, name: string): void {
  requireValid(rules.id, value, name)
}

/** A store that must have an optional method for what was asked. */
export function offering<S extends object, M extends keyof S>(store: S, method: M, what: string): Required<Pick<S, M>> {
  if (store[method] === undefined) throw invalid(`This store cannot be asked for its ${what}.`)
  return store as Required<Pick<S, M>>
}

export function paged<From, To>({ items, ...rest }: Page<From>, map: (item: From) => To): Page<To> {
  return { ...rest, items: items.map(map) }
}
