/** Usage records and statistics. */
import type { Page, PageRequest } from '../billing/contract.ts'
import { formatMoney } from '../billing/money.ts'
import { invalid } from '../errors.ts'
import type { Guard } from '../store-access/guard.ts'
import type { UsageFilter, UsageQuestion, UsageRecord, UsageStore, UsageSummary } from '../usage/contract.ts'
import { offering, paged } from './accounts.ts'
import type { AdminParts } from './parts.ts'
import { requireValid, rules } from './check.ts'

export interface UsageView extends Omit<UsageRecord, 'cost' | 'overage'> {
  readonly cost: string
  readonly overage: string
}

export interface StatisticsRow extends Omit<UsageSummary, 'cost'> {
  readonly cost: string
}

/** Whose calls: those of one account, or, where that is said, of all. */
export type UsageScope =
  | { readonly account: string; readonly all?: never }
  | { readonly all: true; readonly account?: never }

/** Which calls, and which page of them. */
export type UsageListQuestion = UsageScope & Omit<UsageFilter, 'account'> & PageRequest

export type UsageSumsQuestion = UsageScope & Omit<UsageQuestion, 'account'>

export class UsageAdmin {
  readonly #store: UsageStore | undefined
  readonly #guard: Guard

  constructor({ usage, pageGuard }: AdminParts) {
    this.#store = usage
    this.#guard = pageGuard('the usage store')
  }

  /**
   * Calls of `account`, or with `all: true` of everybody, newest first. A call is listed soon after it has ended, not at
   * once.
   */
  async list(question: UsageListQuestion): Promise<Page<UsageView>> {
    requireScope(question)
    requireValid(question.all === true ? rules.usageListOfAll : rules.usageList, question)
    const { all: _, ...rest } = question
    const page = await this.#ask((store) => store.list(rest))
    return paged(page, view)
  }

  /**
   * The call with this request id, as in `x-request-id`, whoever made it: before you show it to a customer, compare
   * `account`. Undefined when there is none.
   */
  async find(id: string): Promise<UsageView | undefined> {
    requireValid(rules.text, id, 'id')
    const record = await this.#ask((store) => offering(store, 'find', 'single records').find(id))
    return record && view(record)
  }

  /** Sums by day, account, group, key, model or endpoint; of `account`, or with `all: true` of everybody. */
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

/** A page whose visitor is not logged in must not see the calls of everybody. */
function requireScope(question: UsageScope): void {
  const { account, all } = Object(question) as Partial<UsageScope>
  if (account === undefined && all !== true) {
    throw invalid('"account" is missing. For the calls of all accounts say "all: true".', 'account')
  }
}
