import type { LargestRows, UsageDimension, UsageMeasure, UsageQuestion, UsageSummary } from '../index.ts'
import { counts } from '../sql/usage-columns.ts'
import type { Row } from './database.ts'

type Sum = { -readonly [Name in keyof UsageSummary]: UsageSummary[Name] }

/** Rows of sums, of which those with equal dimensions are added up. */
export class AddedSums {
  readonly #question: UsageQuestion
  readonly #rows = new Map<string, Sum>()

  constructor(question: UsageQuestion) {
    this.#question = question
  }

  /** Adds rows with the dimensions `d0`, `d1` and so on. */
  add(rows: readonly Row[]): void {
    const { by } = this.#question
    for (const row of rows) {
      const name = by.length === 1 ? String(row['d0']) : JSON.stringify(by.map((_, index) => String(row[`d${index}`])))
      const before = this.#rows.get(name)
      const cost = (BigInt(row['high'] ?? 0) << 32n) + BigInt(row['low'] ?? 0)
      if (before === undefined) {
        this.#rows.set(name, sumOf(row, by, cost))
        continue
      }
      for (const each of counts) before[each] += Number(row[each])
      before.cost += cost
    }
  }

  /** Ordered by the dimensions. */
  rows(): UsageSummary[] {
    const { by, largest } = this.#question
    const all = [...this.#rows.values()]
    const some = largest === undefined ? all : largestOf(all, largest)
    return some.sort((left, right) => {
      const differing = by.find((dimension) => left[dimension] !== right[dimension])
      return differing === undefined || (left[differing] ?? '') < (right[differing] ?? '') ? -1 : 1
    })
  }
}

/** Assigns to one object instead of spreading, because there may be tens of thousands of rows. */
function sumOf(row: Row, by: readonly UsageDimension[], cost: bigint): Sum {
  const sum: Record<string, unknown> = {}
  by.forEach((dimension, index) => {
    const value = row[`d${index}`]
    sum[dimension] = dimension === 'period' ? Number(value) : value
  })
  for (const each of counts) sum[each] = Number(row[each])
  sum['cost'] = cost
  return sum as unknown as Sum
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
