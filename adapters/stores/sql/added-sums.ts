import { comparing, type LargestRows, type UsageMeasure, type UsageQuestion, type UsageSummary } from '../index.ts'
import type { TableRow } from './sql.ts'
import { amounts, missingAmounts, sums } from './usage-columns.ts'
import { dayMs } from './usage-spans.ts'

type Sum = { -readonly [Name in keyof UsageSummary]: UsageSummary[Name] }

/** Rows of sums, of which those with equal dimensions are added up. */
export class AddedSums {
  readonly #question: UsageQuestion
  readonly #rows = new Map<string, Sum>()

  constructor(question: UsageQuestion) {
    this.#question = question
  }

  /** Adds rows with the dimensions `d0`, `d1` and so on, of which the tags are a list in JSON. */
  add(rows: readonly TableRow[]): void {
    const { by } = this.#question
    const tagged = by.indexOf('tag')
    for (const row of rows) {
      const values = by.map((dimension, index) => {
        const value = row[`d${index}`]
        return dimension === 'day' ? dayOf(Number(value)) : dimension === 'period' ? Number(value) : value
      })
      if (tagged < 0) this.#add(values, row)
      else {
        const tags = values[tagged] === null ? [''] : (JSON.parse(values[tagged] as string) as string[])
        for (const tag of tags) this.#add(values.with(tagged, tag), row)
      }
    }
  }

  #add(values: readonly unknown[], row: TableRow): void {
    const name = values.length === 1 ? String(values[0]) : JSON.stringify(values)
    let sum = this.#rows.get(name)
    if (sum === undefined) this.#rows.set(name, (sum = this.#begin(values)))
    sum.requests += Number(row['requests'])
    sum.incomplete += Number(row['incomplete'])
    for (const [unit, column] of sums) sum[unit] += Number(row[column])
    for (const { name, column } of amounts)
      sum[name] += (integerIn(row[`${column}_high`]) << 32n) + integerIn(row[`${column}_low`])
    for (const column of missingAmounts) sum[column] += Number(row[column])
  }

  /** Assigns to one object instead of spreading, because there may be tens of thousands of rows. */
  #begin(values: readonly unknown[]): Sum {
    const sum: Record<string, unknown> = {}
    this.#question.by.forEach((dimension, index) => (sum[dimension] = values[index]))
    sum['requests'] = sum['incomplete'] = 0
    for (const [unit] of sums) sum[unit] = 0
    for (const { name } of amounts) sum[name] = 0n
    for (const name of missingAmounts) sum[name] = 0
    return sum as unknown as Sum
  }

  /** Ordered by the dimensions. */
  rows(): UsageSummary[] {
    const { by, largest } = this.#question
    const all = [...this.#rows.values()]
    const some = largest === undefined ? all : largestOf(all, largest)
    return some.sort(comparing(by))
  }
}

function integerIn(value: unknown): bigint {
  return BigInt(value as bigint | string)
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
