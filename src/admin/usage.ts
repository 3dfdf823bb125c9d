/** Usage records and statistics. */
import type { Page, PageRequest } from '../billing/contract.ts'
import { formatMoney } from '../billing/money.ts'
import { invalid } from '../errors.ts'
import type { Guard } from '../storage/guard.ts'
import type { Dimension, UsageFilter, UsageQuestion, UsageRecord, UsageStore, UsageSummary } from '../usage/contract.ts'
import { paged } from './accounts.ts'
import type { AdminParts } from './admin.ts'

export interface UsageView extends Omit<UsageRecord, 'cost' | 'overage'> {
  readonly cost: string
  readonly overage: string
}

export interface StatisticsRow extends Omit<UsageSummary, 'cost'> {
  readonly cost: string
}

const dimensions: readonly Dimension[] = ['day', 'account', 'group', 'key', 'model', 'endpoint']

export class UsageAdmin {
  readonly #store: UsageStore | undefined
  readonly #guard: Guard

  constructor({ usage, guard }: AdminParts) {
    this.#store = usage
    this.#guard = guard('the usage store')
  }

  /** Calls, newest first. A call is listed soon after it has ended, not at once. */
  async list(question: UsageFilter & PageRequest): Promise<Page<UsageView>> {
    const page = await this.#ask((store) => store.list(question))
    return paged(page, (record) => ({
      ...record,
      cost: formatMoney(record.cost),
      overage: formatMoney(record.overage),
    }))
  }

  /** Sums by day, account, group, key, model or endpoint. */
  async statistics(question: UsageQuestion): Promise<StatisticsRow[]> {
    const { by } = question
    if (!Array.isArray(by) || !by.every((name) => dimensions.includes(name))) {
      throw invalid(`"by" must be a list of ${dimensions.join(', ')}.`, 'by')
    }
    const rows = await this.#ask((store) => store.summarise(question))
    return rows.map((row) => ({ ...row, cost: formatMoney(row.cost) }))
  }

  async #ask<T>(question: (store: UsageStore) => Promise<T> | T): Promise<T> {
    const store = this.#store
    if (store === undefined) throw invalid('Usage is not recorded: set the option "usage", "storage" or "billing".')
    return this.#guard.call(() => question(store))
  }
}
