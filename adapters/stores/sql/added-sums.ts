import { comparing, type LargestRows, type UsageMeasure, type UsageQuestion, type UsageSummary } from '../index.ts'
import type { TableRow } from './sql.ts'
import { amounts, missingAmounts, sums } from './usage-columns.ts'
import { dayMs } from './usage-spans.ts'

type Sum = { -readonly [Name in keyof UsageSummary]: UsageSummary[Name] }

const parts = amounts.map(({ name, column }) => ({ name, high: `${column}_high`, low: `${column}_low` }))

/** Rows that are sorted at once. */
const piece = 2_000

/** Rows of sums, of which those with equal dimensions are added up. */
export class AddedSums {
  readonly #question: UsageQuestion
  readonly #rows = new Map<string, Sum>()

  constructor(question: UsageQuestion) {
    this.#question = question
  }

  /** Adds rows with the dimensions `d0`, `d1` and so on, of which the tags are a list in JSON. A column that is absent is 0. */
  add(rows: readonly TableRow[]): void {
    const { by } = this.#question
    const tagged = by.indexOf('tag')
    const names = by.map((_, index) => `d${index}`)
    for (const row of rows) {
      const values = names.map((name) => row[name])
      if (tagged < 0) this.#add(values, row)
      else {
        const tags = values[tagged] === null ? [''] : (JSON.parse(values[tagged] as string) as string[])
        for (const tag of tags) this.#add(values.with(tagged, tag), row)
      }
    }
  }

  #add(values: readonly unknown[], row: TableRow): void {
    // No text of a database has a NUL.
    const name = values.join('\0')
    let sum = this.#rows.get(name)
    if (sum === undefined) this.#rows.set(name, (sum = this.#begin(values)))
    sum.requests += Number(row['requests'])
    sum.incomplete += numberIn(row['incomplete'])
    for (const [unit, column] of sums) sum[unit] += numberIn(row[column])
    for (const { name, high, low } of parts) sum[name] += (integerIn(row[high]) << 32n) + integerIn(row[low])
    for (const column of missingAmounts) sum[column] += numberIn(row[column])
  }

  /** Assigns to one object instead of spreading, because there may be tens of thousands of rows. */
  #begin(values: readonly unknown[]): Sum {
    const sum: Record<string, unknown> = {}
    this.#question.by.forEach((dimension, index) => {
      const value = values[index]
      sum[dimension] = dimension === 'day' ? dayOf(Number(value)) : dimension === 'period' ? Number(value) : value
    })
    sum['requests'] = sum['incomplete'] = 0
    for (const [unit] of sums) sum[unit] = 0
    for (const { name } of amounts) sum[name] = 0n
    for (const name of missingAmounts) sum[name] = 0
    return sum as unknown as Sum
  }

  /** Ordered by the dimensions. */
  rows(): Promise<UsageSummary[]> {
    const { by, largest } = this.#question
    const all = [...this.#rows.values()]
    return sortedInPieces(largest === undefined ? all : largestOf(all, largest), comparing(by))
  }
}

/** Sorts pieces and joins two at a time, between which other calls run. What consists of two ordered pieces is sorted quickly. */
async function sortedInPieces<T>(items: T[], compare: (left: T, right: T) => number): Promise<T[]> {
  if (items.length <= piece) return items.sort(compare)
  let pieces = Array.from({ length: Math.ceil(items.length / piece) }, (_, at) =>
    items.slice(at * piece, (at + 1) * piece),
  )
  for (;;) {
    for (const each of pieces) {
      each.sort(compare)
      await new Promise(setImmediate)
    }
    if (pieces.length === 1) return pieces[0] as T[]
    const joined: T[][] = []
    for (let at = 0; at < pieces.length; at += 2) joined.push([...(pieces[at] as T[]), ...(pieces[at + 1] ?? [])])
    pieces = joined
  }
}

function numberIn(value: unknown): number {
  return value === undefined || value === null ? 0 : Number(value)
}

function integerIn(value: unknown): bigint {
  return value === undefined ? 0n : BigInt(value as bigint | string)
}

function dayOf(number: number): string {
  return new Date(number * dayMs).toISOString().slice(0, 10)
}

/** In time proportional to the rows, because there may be a million. Of equal rows at the limit, the first ones. */
function largestOf(all: readonly Sum[], { most, measure }: LargestRows): Sum[] {
  if (all.length <= most) return [...all]
  const sizes = Float64Array.from(all, (row) => sizeOf(row, measure))
  const limit = sizes.toSorted().at(-most) as number
  const above = all.filter((_, index) => (sizes[index] as number) > limit)
  const equal = all.filter((_, index) => sizes[index] === limit)
  return [...above, ...equal.slice(0, most - above.length)]
}

function sizeOf(row: Sum, measure: UsageMeasure): number {
  return measure === 'tokens' ? row.promptTokens + row.completionTokens : Number(row[measure])
}
