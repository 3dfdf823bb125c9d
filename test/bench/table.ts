/** Prints the results of all rounds as tables. */
import type { Held } from './memory.ts'
import type { Scenario } from './traffic.ts'
import type { Translated } from './translators.ts'

/** One measurement: microseconds of CPU per unit, and its multiple of the relay's in the same round. */
export interface Sample {
  readonly row: string
  readonly column: string
  readonly cost: number
  readonly ratio: number
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right)
  const place = (sorted.length - 1) * part
  const below = sorted[Math.floor(place)] as number
  const above = sorted[Math.ceil(place)] as number
  return below + (above - below) * (place - Math.floor(place))
}

export function printTable(rows: readonly string[], columns: readonly Scenario[], samples: readonly Sample[]): void {
  const cell = (row: string, column: string, show: (found: Sample[]) => string) =>
    show(samples.filter((sample) => sample.row === row && sample.column === column))
  const base = rows[0] as string
  const ratios = rows.map((row) => [
    row,
    ...columns.map(({ name }) => cell(row, name, (found) => spread(found.map(({ ratio }) => ratio)))),
  ])
  const costs = columns.map(({ name }) =>
    cell(base, name, (found) => `${median(found.map((each) => each.cost)).toFixed(1)} µs`),
  )
  const head = ['CPU, multiples of the relay', ...columns.map(({ name, unit }) => `${name} / ${unit}`)]
  print([head, ...ratios, [`${base}, absolute`, ...costs]])
}

/** The median and the interquartile range. */
export function spread(values: readonly number[], digits: number = 2): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => quantile(values, part).toFixed(digits))
  return `${middle} (${low}–${high})`
}

export function printMemory(held: readonly Held[]): void {
  print([
    ['memory a held stream', 'RSS', 'heap'],
    ...held.map(({ kind, rss, heap }) => [kind, inKilobytes(rss), inKilobytes(heap)]),
  ])
}

export function printTimes(times: ReadonlyMap<string, readonly number[]>): void {
  const timed = [...times].filter(([, each]) => each.length > 0)
  if (timed.length === 0) return
  print([
    ['json, one at a time', 'median', '99 of 100'],
    ...timed.map(([name, each]) => [name, inMilliseconds(median(each)), inMilliseconds(quantile(each, 0.99))]),
  ])
}

export function printTranslators(all: readonly Translated[]): void {
  print([
    ['translating, in process', 'a chunk alone', 'twenty at once'],
    ...all.map(({ name, single, together }) => [name, `${single.toFixed(1)} µs`, `${together.toFixed(1)} µs`]),
  ])
}

export function print(lines: readonly (readonly string[])[]): void {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  for (const line of lines) {
    console.log(
      line
        .map((text, column) =>
          column === 0 ? text.padEnd(widths[0] as number) : text.padStart(widths[column] as number),
        )
        .join('  '),
    )
  }
  console.log()
}

function inKilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}

function inMilliseconds(time: number): string {
  return `${time.toFixed(2)} ms`
}
