import type { Page, PageRequest } from '../billing/contract.ts'
import { formatMoney } from '../billing/money.ts'
import { invalid } from '../errors.ts'
import type { Guard } from '../store-access/guard.ts'
import type { UsageFilter, UsageQuestion, UsageRecord, UsageStore, UsageSummary } from '../usage/contract.ts'
import { offering, paged } from './accounts.ts'
import type { AdminParts } from './parts.ts'
import { requireValid, rules } from './check.ts'

/** A usage record, with amounts as decimal strings. */
export interface UsageView extends Omit<UsageRecord, 'cost' | 'overage'> {
  /** The amount charged, as a decimal string. */
  readonly cost: string
  /** The part of `cost` that exceeded the hold, as a decimal string. */
  readonly overage: string
}

/** A row of sums, with the cost as a decimal string. */
export interface StatisticsRow extends Omit<UsageSummary, 'cost'> {
  /** Sum of the amounts charged, as a decimal string. */
  readonly cost: string
}

/** The requests of one account, or explicitly of all. */
export type UsageScope =
  | {
      /** The account whose requests are selected. */
      readonly account: string
      /** Not with `account`. */
      readonly all?: never
    }
  | {
      /** All accounts, for pages of the operator only. */
      readonly all: true
      /** Not with `all`. */
      readonly account?: never
    }

/** Selects usage records and a page of them. */
export type UsageListQuestion = UsageScope & Omit<UsageFilter, 'account'> & PageRequest

/** Selects usage records and how to sum them. */
export type UsageSumsQuestion = UsageScope & Omit<UsageQuestion, 'account'>

/** Usage records and statistics. Methods throw a 400 if usage is not recorded, and a 503 if the usage store fails. */
export class UsageAdmin {
  readonly #store: UsageStore | undefined
  readonly #guard: Guard

  constructor({ usage, pageGuard }: AdminParts) {
    this.#store = usage
    this.#guard = pageGuard('the usage store')
  }

  /**
   * The requests of `account`, or with `all: true` of all accounts, newest first. A request appears shortly after it has
   * ended.
   */
  async list(question: UsageListQuestion): Promise<Page<UsageView>> {
    requireScope(question)
    requireValid(question.all === true ? rules.usageListOfAll : rules.usageList, question)
    const { all: _, ...rest } = question
    const page = await this.#ask((store) => store.list(rest))
    return paged(page, view)
  }

  /**
   * The request with this id, as in `x-request-id`; undefined if there is none. Of any account: compare `account` before
   * you show it to a customer.
   */
  async find(id: string): Promise<UsageView | undefined> {
    requireValid(rules.text, id, 'id')
    const record = await this.#ask((store) => offering(store, 'find', 'single records').find(id))
    return record && view(record)
  }

  /** Sums by day, account, group, key, model or endpoint, of `account` or with `all: true` of all accounts. */
  async statistics(question: UsageSumsQuestion): Promise<StatisticsRow[]> {
    requireScope(question)
    requireValid(question.all === true ? rules.usageSumsOfAll : rules.usageSums, question)
    const { all: _, ...rest } = question
    const rows = await this.#ask((store) => store.summarise(rest))
    return rows.map((row) => ({ ...row, cost: formatMoney(row.cost) }))
  }

  async #ask<T>(question: (store: UsageStore) => Promise<T> | T): Promise<T> {
    const store = this.#store
    if (store === undefined) throw invalid('Usage is not recorded: set the option "usage", "storage" or "billing".')
    return this.#guard.call(() => question(store))
  }
}

function view(record: UsageRecord): UsageView {
  return { ...record, cost: formatMoney(record.cost), overage: formatMoney(record.overage) }
}

/** All accounts must be requested explicitly, so that a page without a logged-in user does not show them by mistake. */
function requireScope(question: UsageScope): void {
  const { account, all } = Object(question) as Partial<UsageScope>
  if (account === undefined && all !== true) {
    throw invalid('"account" is missing. Set "all: true" for the requests of all accounts.', 'account')
  }
}
