/** Prints the results as tables: medians and, in parentheses, quartiles of the rounds. */
import type { Clustered } from './cluster.ts'
import type { Sample } from './costs.ts'
import type { Late } from './delay.ts'
import type { Added } from './latency.ts'
import type { Held } from './memory.ts'
import type { Scenario } from './traffic.ts'
import type { Translated } from './translators.ts'

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

/** The median and the interquartile range. */
export function spread(values: readonly number[], digits: number = 2): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => quantile(values, part).toFixed(digits))
  return `${middle} (${low}–${high})`
}

/** The first row is the one that the others are compared with. */
export function printCosts(rows: readonly string[], columns: readonly Scenario[], samples: readonly Sample[]): void {
  const cell = (row: string, column: string, show: (found: Sample[]) => string) =>
    show(samples.filter((sample) => sample.row === row && sample.column === column))
  const ratios = rows.map((row) => [
    row,
    ...columns.map(({ name }) => cell(row, name, (found) => spread(found.map(({ ratio }) => ratio)))),
  ])
  const [base = ''] = rows
  const costs = columns.map(({ name }) =>
    cell(
      base,
      name,
      (found) =>
        `${spread(
          found.map((each) => each.cost),
          1,
        )} µs`,
    ),
  )
  const head = ['CPU, multiples of the relay', ...columns.map(({ name, unit }) => `${name} / ${unit}`)]
  print([head, ...ratios, [`${base}, absolute`, ...costs]])
}

export function printLatency(added: readonly Added[], perSecond: number): void {
  print([
    [`milliseconds added to a response, ${perSecond} requests/s`, 'p50', 'p99'],
    ...added.map(({ name, p50, p99 }, index) => [index === 0 ? `${name}, absolute` : name, spread(p50), spread(p99)]),
  ])
}

export function printDelays(delays: readonly Late[], streams: number): void {
  print([
    [`event-loop delay in ms, ${streams} streams`, 'p50', 'p99', 'most'],
    ...delays.map(({ name, p50, p99, most }) => [name, ...[p50, p99, most].map((ms) => ms.toFixed(2))]),
  ])
}

export function printMemory(held: readonly Held[], bodyBytes: number): void {
  const [{ streams } = { streams: 0 }] = held
  const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`
  print([
    [
      `memory a stream, of ${streams} with ${Math.round(bodyBytes / 1024)} KB of messages`,
      'RSS',
      'heap and buffers',
      'highest RSS',
    ],
    ...held.map(({ name, rss, heap, peak }) => [name, kilobytes(rss), kilobytes(heap), kilobytes(peak)]),
  ])
}

export function printClusters(clustered: readonly Clustered[]): void {
  print([
    ['64 callers, 1,000 accounts', 'calls/s', 'p50 ms', 'p99 ms', 'CPU µs/call'],
    ...clustered.map(({ name, perSecond, p50, p99, cpu }) => [
      name,
      spread(perSecond, 0),
      spread(p50, 1),
      spread(p99, 1),
      spread(cpu, 0),
    ]),
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
