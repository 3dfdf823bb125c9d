import { dayOf, offsetsIn, periodsAround, periodStart } from '../records/calendar.ts'
import { formatMoney } from '../money/money.ts'
import { invalid } from '../errors.ts'
import { costView, type CostQuestion, type CostView } from './cost-view.ts'
import type { UsageFilter, UsageQuestion, UsageSummary } from '../observe/usage/contract.ts'
import type { LargestRows, SeriesDimension, UsageMeasure } from '../observe/usage/row-selection.ts'
import { usageUnits, type UsageUnits } from '../observe/usage/units.ts'
import { requireRange, type TimeRange } from './time-range.ts'
import type { UsageScope } from './usage-scope.ts'

/** Selects usage, and how to divide it into periods and series. */
export type UsageSeriesQuestion = UsageScope &
  CostQuestion &
  Omit<UsageFilter, 'account' | 'from' | 'to'> &
  TimeRange & {
    /** Length of a period. At most 400 periods; sums by minutes read each request, those of others do not. */
    readonly period: SeriesPeriod
    /** Time zone in which days and hours begin, by its IANA name. Default UTC. */
    readonly timeZone?: string
    /** One series for each value of this. Default: only the totals. */
    readonly by?: SeriesDimension
    /** Number of series; the others are added up in one without a name. Default 8, at most 20. */
    readonly top?: number
    /** What the largest series are chosen by. Default `cost`. */
    readonly measure?: UsageMeasure
  }

/** The length of a period: a quarter is a quarter of an hour. */
export type SeriesPeriod = 'minute' | 'quarter' | 'hour' | 'day'

/** The sums of one period. */
export interface UsagePoint extends UsageUnits, CostView {
  /** The start of the period. Milliseconds since the epoch. */
  readonly at: number
  /** Number of requests. */
  readonly requests: number
  /** Requests that failed or were cancelled. */
  readonly incomplete: number
  /** Sum of the amounts charged, as a decimal string. */
  readonly cost: string
  /** Requests that are not in `vendorCost`, because the cost of a deployment is not known. Only with `costs`. */
  readonly uncosted?: number
}

/** Sums by period, for charts: each list of points has every period of the range. */
export interface UsageSeries {
  /** The totals. */
  readonly total: readonly UsagePoint[]
  /** The largest series first. */
  readonly series: readonly {
    /** The account, key, model and so on. Null: all others, and requests without a key or user. */
    readonly name: string | null
    /** The points. */
    readonly points: readonly UsagePoint[]
  }[]
}

type Count = keyof UsageUnits | 'requests' | 'incomplete' | 'uncosted'
type Sums = Pick<UsageSummary, Count | 'cost' | 'vendorCost'>

/** Sums that match a question, of which days may be in a time zone. */
export type Summing = (question: UsageQuestion & { readonly timeZone?: string }) => Promise<UsageSummary[]>

const lengths = { minute: 60_000, quarter: 900_000, hour: 3_600_000 }
const counts: readonly Count[] = ['requests', 'incomplete', 'uncosted', ...usageUnits]

const mostPeriods = 400

/** The most rows of sums by name and period that are read at once from a store that returns those of all names. */
const mostRows = 20_000

/**
 * Asks for the largest names, then for the totals, then for the sums of these names by period: so neither the rows nor the
 * questions become more with more names. A store that returns more than was asked for is asked for one name after the other.
 */
export async function seriesOf(question: UsageSeriesQuestion, sum: Summing): Promise<UsageSeries> {
  const { all: _, period, timeZone, by, top = 8, measure = 'cost', costs = false, ...filter } = question
  const shown = (point: Point) => pointView(point, costs)
  if (by === undefined) {
    const field = (['top', 'measure'] as const).find((name) => question[name] !== undefined)
    if (field !== undefined) throw invalid(`"${field}" has no effect without "by".`, field)
  }
  const periods = new Periods(filter, period, timeZone)
  const totals = async () => periods.fill(await sum({ ...filter, ...periods.question([]) }))
  if (by === undefined) return { total: (await totals()).map(shown), series: [] }
  // Two more: one may have no name, and one tells that there are others.
  const most = top + 2
  const sizes = await sum({ ...filter, by: [by], largest: { most, measure } })
  const names = largestOf(sizes, { most, measure })
    .flatMap((row) => row[by] || [])
    .slice(0, top)
  const isAll = names.length === sizes.length
  const rowsOf = new Map(names.map((name): [string, UsageSummary[]] => [name, []]))
  if (names.length > 0 && (sizes.length <= most || sizes.length * periods.count <= mostRows)) {
    const rows = await sum({ ...filter, ...periods.question([by]), only: { dimension: by, values: names } })
    for (const row of rows) rowsOf.get(row[by] as string)?.push(row)
  } else {
    for (const name of names) rowsOf.set(name, await sum({ ...filter, [by]: name, ...periods.question([]) }))
  }
  const found = [...rowsOf].map(([name, rows]) => ({ name, points: periods.fill(rows) }))
  const series = found.map(({ name, points }) => ({ name, points: points.map(shown) }))
  const total = isAll ? periods.fill([...rowsOf.values()].flat()) : await totals()
  if (isAll) return { total: total.map(shown), series }
  const rest = total.map((point, index) =>
    less(
      point,
      found.map(({ points }) => points[index] as Point),
    ),
  )
  return { total: total.map(shown), series: [...series, { name: null, points: rest.map(shown) }] }
}

/** The largest rows, the largest first. */
export function largestOf<Row extends Sums>(rows: readonly Row[], { most, measure }: LargestRows): Row[] {
  return rows.toSorted((left, right) => sizeOf(right, measure) - sizeOf(left, measure)).slice(0, most)
}

type Point = { -readonly [Name in keyof Sums]: Sums[Name] } & { readonly at: number }

class Periods {
  readonly #starts: readonly number[]
  readonly #question: Pick<UsageQuestion, 'offsetMinutes' | 'periodMs'> & { readonly timeZone?: string }
  readonly #isDaily: boolean

  constructor({ from, to }: TimeRange, period: SeriesPeriod, timeZone = 'UTC') {
    requireRange({ from, to })
    this.#isDaily = period === 'day'
    if (period === 'day') {
      if (to - from > mostPeriods * 86_400_000) throw tooMany()
      this.#starts = daysOf(from, to, timeZone)
      this.#question = { timeZone }
      return
    }
    const periodMs = lengths[period]
    const offsetMinutes = offsetAt(from, timeZone)
    const offsetMs = offsetMinutes * 60_000
    const first = Math.floor((from + offsetMs) / periodMs) * periodMs - offsetMs
    const count = Math.ceil((to - first) / periodMs)
    if (count > mostPeriods) throw tooMany()
    this.#starts = Array.from({ length: count }, (_, index) => first + index * periodMs)
    this.#question = { periodMs, offsetMinutes }
  }

  get count(): number {
    return this.#starts.length
  }

  question(by: UsageQuestion['by']): UsageQuestion & { readonly timeZone?: string } {
    return { ...this.#question, by: [this.#isDaily ? 'day' : 'period', ...by] }
  }

  /** A point for each period, also for those without a row. Adds up the rows of a period. */
  fill(rows: readonly UsageSummary[]): Point[] {
    const { timeZone = 'UTC' } = this.#question
    const points = this.#starts.map((at): Point => ({ ...nothing, at }))
    const byName = new Map(points.map((point) => [this.#isDaily ? localDayOf(point.at, timeZone) : point.at, point]))
    for (const row of rows) {
      const point = byName.get((this.#isDaily ? row.day : row.period) as string | number)
      if (point !== undefined) add(point, row)
    }
    return points
  }
}

function daysOf(from: number, to: number, timeZone: string): number[] {
  const days: number[] = []
  for (let at = periodStart('day', from, { timeZone }); at < to;) {
    days.push(at)
    at = periodsAround('day', at, { timeZone }).find((start) => start > at) as number
  }
  return days
}

/** The date at which a day begins, as `YYYY-MM-DD`. */
function localDayOf(at: number, timeZone: string): string {
  return dayOf(at + offsetAt(at, timeZone) * 60_000)
}

function offsetAt(at: number, timeZone: string): number {
  return offsetsIn(timeZone, at, at)[0]?.offsetMinutes ?? 0
}

const nothing: Sums = {
  ...(Object.fromEntries(counts.map((name) => [name, 0])) as unknown as Sums),
  cost: 0n,
  vendorCost: 0n,
}

function add(point: Point, row: Sums): void {
  for (const name of counts) point[name] += row[name]
  point.cost += row.cost
  point.vendorCost += row.vendorCost
}

function sizeOf(row: Sums, measure: UsageMeasure): number {
  if (measure === 'tokens') return row.promptTokens + row.completionTokens
  return Number(row[measure])
}

function less(from: Point, parts: readonly Point[]): Point {
  const rest = { ...from }
  for (const part of parts) {
    for (const name of counts) rest[name] -= part[name]
    rest.cost -= part.cost
    rest.vendorCost -= part.vendorCost
  }
  // Requests that were recorded between two questions.
  for (const name of counts) rest[name] = Math.max(0, rest[name])
  return rest
}

function pointView({ cost, vendorCost, uncosted, ...numbers }: Point, costs: boolean): UsagePoint {
  return { ...numbers, cost: formatMoney(cost), ...(costs && { ...costView(cost, vendorCost), uncosted }) }
}

function tooMany(): Error {
  return invalid(`The range has more than ${mostPeriods} periods: choose longer ones, or a shorter range.`, 'period')
}
