import type { Page, PageRequest } from '../money/ledger/contract.ts'
import { formatMoney } from '../money/money.ts'
import { invalid } from '../errors.ts'
import type { UsageFilter, UsageQuestion, UsageRecord, UsageSummary } from '../observe/usage/contract.ts'
import { usageFieldsWith } from '../observe/usage/fields.ts'
import { findRecord } from '../observe/usage/record-ids.ts'
import { usageUnits } from '../observe/usage/units.ts'
import * as z from 'zod'
import { strict } from '../records/rules.ts'
import { ofAny, requireMethod, requireScoped, requireValid } from './check.ts'
import {
  dimensions,
  invoicePeriod,
  largest,
  latencyQuestion,
  listFilter,
  month,
  page as pageShape,
  seriesQuestion,
  text,
  time as timeRule,
  usageSums,
} from './questions.ts'
import { mapInTurns } from './in-turns.ts'
import { mapPage } from '../records/page.ts'
import { picked } from '../records/picked.ts'
import type { AdminServices } from './services.ts'
import { costView, type CostQuestion, type CostView } from './cost-view.ts'
import { itemsOf, monthOf, type InvoiceItem } from './invoice.ts'
import { requireRange, type TimeRange } from './time-range.ts'
import type { UsageScope } from './usage-scope.ts'
import { durationsIn, latencyOf, type LatencyPoint, type LatencyQuestion } from './latency.ts'
import { largestOf, seriesOf, type UsageSeries, type UsageSeriesQuestion } from './series.ts'
import { summariseByLocalDay } from './local-days.ts'

/** A usage record, with amounts as decimal strings. */
export interface UsageView extends Omit<UsageRecord, 'cost' | 'overage' | 'vendorCost'>, CostView {
  /** The amount charged, as a decimal string. */
  readonly cost: string
  /** The part of `cost` that exceeded the hold, as a decimal string. */
  readonly overage: string
}

/** A row of sums, with the cost as a decimal string. */
export interface StatisticsRow extends Omit<UsageSummary, 'cost' | 'vendorCost' | 'uncosted'>, CostView {
  /** Sum of the amounts charged, as a decimal string. */
  readonly cost: string
  /** Requests that are not in `vendorCost`, because the cost of a deployment is not known. Only with `costs`. */
  readonly uncosted?: number
}

/** Selects usage records and a page of them. */
export type UsageListQuestion = UsageScope & Omit<UsageFilter, 'account'> & PageRequest & CostQuestion

/** Selects usage records and how to sum them. */
export type UsageSumsQuestion = UsageScope &
  CostQuestion &
  Omit<UsageQuestion, 'account' | 'only' | 'periodMs'> & {
    /**
     * Length of the periods of the dimension `period`, in whole milliseconds, from a minute to 366 days. If it is no whole
     * number of quarter-hours, `from` and `to` are needed, and the range has at most 10,000 periods. Default one hour.
     */
    readonly periodMs?: number
    /** Time zone of the days, by its IANA name, such as `Europe/Berlin`. Not with `offsetMinutes`. Default UTC. */
    readonly timeZone?: string
  }

/** Selects the period of an invoice, of one account or explicitly of all. */
export type InvoiceQuestion = UsageScope &
  (
    | (TimeRange & {
        /** Not with `from` and `to`. */
        readonly month?: never
        /** Not with `from` and `to`. */
        readonly timeZone?: never
      })
    | {
        /** A calendar month, such as `2030-04`. */
        readonly month: string
        /** Time zone in which the month begins and ends, by its IANA name. Default UTC. */
        readonly timeZone?: string
        /** Not with `month`. */
        readonly from?: never
        /** Not with `month`. */
        readonly to?: never
      }
  )

const none = z.undefined().optional()
const costs = z.boolean().optional()
const { timeZone } = invoicePeriod
const rules = {
  list: strict({ ...ofAny, ...listFilter, ...pageShape, costs }),
  sums: strict({ ...ofAny, ...usageSums, by: dimensions, largest, costs }),
  series: strict({ ...ofAny, ...seriesQuestion, costs }),
  latency: strict({ ...ofAny, ...latencyQuestion }),
  invoice: z.union(
    [
      strict({ ...ofAny, from: timeRule, to: timeRule, month: none, timeZone: none }),
      strict({ ...ofAny, month, timeZone, from: none, to: none }),
    ],
    'needs "from" and "to" in milliseconds since the epoch, or "month", such as \'2030-04\', and its "timeZone"',
  ),
}

/** Usage records and statistics. Methods throw a 400 if usage is not recorded, and a 503 if the usage store fails. */
export class UsageAdmin {
  readonly #services: AdminServices

  /** @internal */
  constructor(services: AdminServices) {
    this.#services = services
  }

  /**
   * The requests of `account`, or with `all: true` of all accounts, newest first. A request appears shortly after it has
   * ended.
   */
  async list(question: UsageListQuestion): Promise<Page<UsageView>> {
    requireScoped(rules.list, question, 'requests')
    const { all: _, costs = false, ...rest } = question
    const page = await this.#services.usage.page((store) => store.list(rest))
    return mapPage(page, (record) => view(record, costs))
  }

  /**
   * The request with this id, as in `x-request-id`; undefined if there is none. The id of a replayed response, or of a response
   * about a video, leads to the request that did the work. Of any account: compare `account` before you show it to a customer.
   */
  async find(id: string, { costs = false }: CostQuestion = {}): Promise<UsageView | undefined> {
    requireValid(text, id, 'id')
    const record = await this.#services.usage.page((store) =>
      findRecord(requireMethod(store, 'find', 'single records'), id),
    )
    return record && view(record, costs)
  }

  /** Sums by day, account, group, key, model, provider, endpoint, user, tag or session, of `account` or with `all: true` of all accounts. */
  async statistics(question: UsageSumsQuestion): Promise<StatisticsRow[]> {
    requireScoped(rules.sums, question, 'requests')
    const { all: _, costs = false, ...rest } = question
    if (rest.timeZone !== undefined && rest.offsetMinutes !== undefined) {
      throw invalid('Only one of "timeZone" and "offsetMinutes" can be set.', 'timeZone')
    }
    requireUsed(rest)
    requireBounded(rest)
    const all = await this.#sums(rest)
    const largest = rest.largest && new Set(largestOf(all, rest.largest))
    const rows = largest === undefined ? all : all.filter((row) => largest.has(row))
    const fields = [...rest.by, 'requests', 'incomplete', ...usageUnits] as const
    return mapInTurns(rows, (row) => rowView(row, fields, costs))
  }

  /** Sums by periods of a range for charts, of `account` or with `all: true` of all, and of the largest models, keys and so on. */
  async series(question: UsageSeriesQuestion): Promise<UsageSeries> {
    requireScoped(rules.series, question, 'requests')
    return seriesOf(question, (asked) => this.#sums(asked))
  }

  /** Latencies by periods of a range for charts, of the last 100 completed requests of each. */
  async latency(question: LatencyQuestion): Promise<LatencyPoint[]> {
    requireScoped(rules.latency, question, 'requests')
    return latencyOf(question, (asked) => this.#services.usage.page((store) => durationsIn(store, asked)))
  }

  /**
   * What was charged in a period, by account and model, with the sum of each price line: the material of an invoice.
   * Ordered by account and model. Requests count in the period in which they started; they appear shortly after their end.
   */
  async invoice(question: InvoiceQuestion): Promise<InvoiceItem[]> {
    requireScoped(rules.invoice, question, 'requests')
    const { account } = question
    const { from, to } = question.month === undefined ? question : monthOf(question.month, question.timeZone ?? 'UTC')
    requireRange({ from, to })
    const range = { from, to, ...(account !== undefined && { account }) }
    const sums = await this.#services.usage.page((store) => store.summarise({ ...range, by: ['account', 'model'] }))
    const lines = await this.#services.usage.page((store) => store.sumLines?.(range) ?? [])
    return itemsOf(sums, lines)
  }

  /**
   * Deletes the records of requests that started before a time, in small batches, and returns how many. Sums still count
   * them. The option `usage.keepMs` does so regularly.
   */
  async removeBefore(time: number): Promise<number> {
    requireValid(timeRule, time, 'time')
    const removed = await this.#services.usage.removeAll((store, most) =>
      requireMethod(store, 'removeBefore', 'old records').removeBefore(time, most),
    )
    await this.#services.note({ action: 'usage.removeBefore', after: { before: time, removed } })
    return removed
  }

  #sums({ timeZone, ...question }: UsageQuestion & { readonly timeZone?: string }): Promise<UsageSummary[]> {
    const ask = (asked: UsageQuestion) => this.#services.usage.page((store) => store.summarise(asked))
    const isZoned = timeZone !== undefined && question.by.includes('day')
    return isZoned ? summariseByLocalDay(timeZone, question, this.#services.now(), ask) : ask(question)
  }
}

const recordFields = usageFieldsWith().filter((name) => name !== 'vendorCost')

function view(record: UsageRecord, costs: boolean): UsageView {
  const { cost, overage, vendorCost } = record
  const shown = costs ? costView(cost, vendorCost) : {}
  return { ...picked(record, recordFields), cost: formatMoney(cost), overage: formatMoney(overage), ...shown }
}

function rowView(
  row: UsageSummary,
  fields: readonly Exclude<keyof UsageSummary, 'cost' | 'vendorCost' | 'uncosted'>[],
  costs: boolean,
): StatisticsRow {
  const { cost, vendorCost, uncosted } = row
  return { ...picked(row, fields), cost: formatMoney(cost), ...(costs && { ...costView(cost, vendorCost), uncosted }) }
}

const quarterMs = 900_000
const mostShortPeriods = 10_000

/** Fields without effect would go unnoticed. */
function requireUsed({ by, periodMs, timeZone, offsetMinutes }: Pick<UsageSumsQuestion, UnusedField | 'by'>): void {
  const [isDaily, isPeriodic] = [by.includes('day'), by.includes('period')]
  if (periodMs !== undefined && !isPeriodic) throw unused('periodMs', '"period"')
  if (timeZone !== undefined && !isDaily) throw unused('timeZone', '"day"')
  if (offsetMinutes !== undefined && !isDaily && !isPeriodic) throw unused('offsetMinutes', '"day" or "period"')
}

type UnusedField = 'periodMs' | 'timeZone' | 'offsetMinutes'

function unused(field: UnusedField, needed: string): Error {
  return invalid(`"${field}" has no effect unless "by" has ${needed}.`, field)
}

/** Periods that are no whole quarters of an hour have no sums: each request is read, so their number must be bounded. */
function requireBounded({ by, from, to, periodMs = quarterMs }: Omit<UsageQuestion, 'account'>): void {
  if (!by.includes('period') || periodMs % quarterMs === 0) return
  if (from === undefined || to === undefined) {
    throw invalid(
      'Periods that are no whole quarters of an hour need "from" and "to".',
      from === undefined ? 'from' : 'to',
    )
  }
  if ((to - from) / periodMs <= mostShortPeriods) return
  throw invalid(
    `The range has more than ${mostShortPeriods} periods: choose a shorter one, or whole quarters of an hour.`,
    'periodMs',
  )
}
