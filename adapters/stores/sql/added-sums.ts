import { comparing, type LargestRows, type UsageMeasure, type UsageQuestion, type UsageSummary } from '../index.ts'
import { listIn } from '../unreadable.ts'
import type { TableList, TableRow } from './sql.ts'
import { addedColumns, amounts, isTime, missingAmounts, sums } from './usage-columns.ts'
import { dayMs } from './usage-spans.ts'

type Sum = { -readonly [Name in keyof UsageSummary]: UsageSummary[Name] }

/** What has equal values of all dimensions but times. */
interface Group {
  readonly values: readonly unknown[]
  /** Where the numbers of each time begin. */
  readonly places: Map<number | string, number>
}

const width = addedColumns.length
const placeOf = (column: string) => addedColumns.indexOf(column)
const units = sums.map(([unit, column]) => ({ unit, at: placeOf(column) }))
const missing = missingAmounts.map((name) => ({ name, at: placeOf(name) }))
const parts = amounts.map(({ name, column }) => ({
  name,
  high: placeOf(`${column}_high`),
  low: placeOf(`${column}_low`),
}))

/** Rows that are made or sorted at once, and that are joined at once. */
const [piece, mostJoined] = [2_000, 10_000]

/** Rows of sums, of which those with equal dimensions are added up. */
export class AddedSums {
  readonly #question: UsageQuestion
  /** The places of times among the dimensions, and of the others. */
  readonly #timed: readonly number[]
  readonly #named: readonly number[]
  readonly #tag: number
  readonly #groups = new Map<string, Group>()
  /** In one list, which is faster than many: `width` of them for each group and time. */
  #numbers = new Float64Array(width * 64)
  #length = 0
  #added = 0
  readonly #isLess: boolean

  /** `isLess`: whether some rows are taken from sums of other times, because they are a part of these. */
  constructor(question: UsageQuestion, isLess = false) {
    this.#isLess = isLess
    const { by } = question
    const all = [...by.keys()]
    this.#question = question
    this.#timed = all.filter((index) => isTime(by[index] as 'day'))
    this.#named = all.filter((index) => !isTime(by[index] as 'day'))
    this.#tag = this.#named.findIndex((index) => by[index] === 'tag')
  }

  /**
   * Adds rows with the dimensions `d0`, `d1` and so on, of which the tags are a list in JSON, and with the times of the sums from
   * which they are taken, such as `less1`. A column that is absent is 0.
   */
  add(rows: readonly TableRow[]): void {
    const timesOf = (row: TableRow, name: string) => this.#timed.map((index) => Number(row[`${name}${index}`]))
    const part = `less${this.#timed[0]}`
    for (const row of rows) {
      const numbers = numbersOf(row)
      const times = timesOf(row, 'd')
      const less = (row[part] ?? null) !== null ? timesOf(row, 'less') : undefined
      for (const group of this.#groupsOf(this.#named.map((index) => row[`d${index}`]))) {
        this.#add(this.#placeOf(group, times, 0), numbers, 0)
        if (less !== undefined) this.#add(this.#placeOf(group, less, 0), numbers, 0, -1)
      }
    }
  }

  /**
   * Adds sums of labels. `labels`: the label and its dimensions but times. `rows`: the label, the times, with `isLess` those of
   * the sum from which the row is taken, and the columns.
   */
  addLabelled(labels: readonly TableList[], rows: readonly TableList[]): void {
    const groups = new Map(labels.map(([label, ...values]) => [label, this.#groupsOf(values)]))
    const count = this.#timed.length
    const from = 1 + count * (this.#isLess ? 2 : 1)
    let label: TableList[number] | undefined
    let own: readonly Group[] = []
    for (const row of rows) {
      if (row[0] !== label) own = groups.get((label = row[0])) ?? []
      const isPart = this.#isLess && row[1 + count] !== null
      for (let index = 0; index < own.length; index++) {
        const group = own[index] as Group
        this.#add(this.#placeOf(group, row, 1), row, from)
        if (isPart) this.#add(this.#placeOf(group, row, 1 + count), row, from, -1)
      }
    }
  }

  #groupsOf(values: readonly unknown[]): readonly Group[] {
    if (this.#tag < 0) return [this.#groupOf(values)]
    const tags = listIn(values[this.#tag]) ?? ['']
    return tags.map((tag) => this.#groupOf(values.with(this.#tag, tag)))
  }

  #groupOf(values: readonly unknown[]): Group {
    // No text of a database has a NUL.
    const name = values.join('\0')
    let group = this.#groups.get(name)
    if (group === undefined) this.#groups.set(name, (group = { values, places: new Map() }))
    return group
  }

  /** The place of the numbers for the times that a row has from `from` on. */
  #placeOf({ places }: Group, row: TableList, from: number): number {
    const count = this.#timed.length
    const key = count === 1 ? (row[from] as number) : row.slice(from, from + count).join(' ')
    let place = places.get(key)
    if (place === undefined) {
      places.set(key, (place = this.#length))
      this.#length += width
      if (this.#length > this.#numbers.length) {
        const numbers = new Float64Array(2 * this.#numbers.length)
        numbers.set(this.#numbers)
        this.#numbers = numbers
      }
    }
    return place
  }

  /** `factor`: -1 takes the row away. */
  #add(place: number, row: TableList, from: number, factor = 1): void {
    const numbers = this.#numbers
    for (let index = 0; index < width; index++) {
      const value = row[from + index] as number | null
      if (value !== null) (numbers[place + index] as number) += factor * value
    }
    if (++this.#added % mostAdded === 0) this.#carry()
  }

  /** Moves what exceeds 32 bits of the lower parts of amounts to the higher ones. */
  #carry(): void {
    const numbers = this.#numbers
    for (let place = 0; place < this.#length; place += width) {
      for (const { high, low } of parts) {
        const carried = Math.floor((numbers[place + low] as number) / 2 ** 32)
        ;(numbers[place + high] as number) += carried
        ;(numbers[place + low] as number) -= carried * 2 ** 32
      }
    }
  }

  /** Ordered by the dimensions. */
  async rows(): Promise<UsageSummary[]> {
    const { by, largest } = this.#question
    const all: Sum[] = []
    for (const { values, places } of this.#groups.values()) {
      for (const [times, place] of places) {
        // All of it was taken.
        if (this.#numbers[place] === 0) continue
        if (all.push(this.#sumOf(values, times, place)) % piece === 0) await new Promise(setImmediate)
      }
    }
    return sortedInPieces(largest === undefined ? all : largestOf(all, largest), comparing(by))
  }

  /** Assigns to one object instead of spreading, because there may be tens of thousands of rows. */
  #sumOf(values: readonly unknown[], time: number | string, place: number): Sum {
    const { by } = this.#question
    const times = typeof time === 'number' ? [time] : time.split(' ').map(Number)
    const sum: Record<string, unknown> = {}
    let [nextTime, nextValue] = [0, 0]
    for (const dimension of by) {
      if (!isTime(dimension)) sum[dimension] = values[nextValue++]
      else if (dimension === 'day') sum[dimension] = dayOf(times[nextTime++] as number)
      else sum[dimension] = times[nextTime++]
    }
    const number = (at: number) => this.#numbers[place + at] as number
    sum['requests'] = number(0)
    sum['incomplete'] = number(1)
    for (const { unit, at } of units) sum[unit] = withoutTraces(number(at))
    for (const { name, high, low } of parts) sum[name] = (BigInt(number(high)) << 32n) + BigInt(number(low))
    for (const { name, at } of missing) sum[name] = number(at)
    return sum as unknown as Sum
  }
}

/** Rows of which the lower parts of amounts stay exact. */
const mostAdded = 2 ** 20

/** A sum of numbers that are not whole may be some quadrillionths too large or too small. */
function withoutTraces(sum: number): number {
  return Number.isInteger(sum) ? sum : Math.round(sum * 1e6) / 1e6
}

/** The columns of a row, of which integers may exceed 2^53. */
function numbersOf(row: TableRow): number[] {
  const numbers = addedColumns.map((column) => Number(row[column] ?? 0))
  for (const { high, low } of parts) {
    const lower = integerIn(row[addedColumns[low] as string])
    numbers[high] = Number(integerIn(row[addedColumns[high] as string]) + (lower >> 32n))
    numbers[low] = Number(lower & 0xffffffffn)
  }
  return numbers
}

/** Sorts pieces and joins two at a time. Other calls run in between. */
async function sortedInPieces<T>(items: readonly T[], compare: (left: T, right: T) => number): Promise<T[]> {
  let pieces: T[][] = []
  for (let at = 0; at < items.length; at += piece) {
    if (at > 0) await new Promise(setImmediate)
    pieces.push(items.slice(at, at + piece).sort(compare))
  }
  while (pieces.length > 1) {
    const joined: T[][] = []
    for (let at = 0; at < pieces.length; at += 2)
      joined.push(await joinedInPieces(pieces[at] as T[], pieces[at + 1] ?? [], compare))
    pieces = joined
  }
  return pieces[0] ?? []
}

/** Of two ordered lists, one. */
async function joinedInPieces<T>(
  lefts: readonly T[],
  rights: readonly T[],
  compare: (left: T, right: T) => number,
): Promise<T[]> {
  const joined: T[] = []
  let [left, right] = [0, 0]
  while (left < lefts.length || right < rights.length) {
    const isLeft =
      right === rights.length || (left < lefts.length && compare(lefts[left] as T, rights[right] as T) <= 0)
    joined.push((isLeft ? lefts[left++] : rights[right++]) as T)
    if (joined.length % mostJoined === 0) await new Promise(setImmediate)
  }
  return joined
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
