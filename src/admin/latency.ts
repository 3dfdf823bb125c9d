import type { DurationQuestion, Durations, UsageFilter, UsageStore } from '../observe/usage/contract.ts'
import { requireRange, type TimeRange } from './time-range.ts'
import type { UsageScope } from './usage-scope.ts'

/** Selects the requests of which latencies are measured. */
export type LatencyQuestion = UsageScope &
  Omit<UsageFilter, 'account' | 'from' | 'to' | 'outcome' | 'code'> &
  TimeRange & {
    /** Number of equal periods into which the range is divided. Default 24, at most 60. */
    readonly periods?: number
  }

/** The latencies of one period. */
export interface LatencyPoint {
  /** The start of the period. Milliseconds since the epoch. */
  readonly at: number
  /** Number of completed requests that were measured: of the last ones of the period, at most 100. */
  readonly requests: number
  /** Milliseconds until the end of the response, of half of the requests at most. Absent if there are none. */
  readonly medianMs?: number
  /** The same of 95 % of the requests. */
  readonly p95Ms?: number
  /** Milliseconds until the first content, of half of the requests at most. Absent if no request has content. */
  readonly medianFirstByteMs?: number
  /** The same of 95 % of the requests. */
  readonly p95FirstByteMs?: number
}

/** The requests of a period that are measured. So the work does not depend on the number of records. */
const sample = 100

/** Measures the last requests of each period. */
export async function latencyOf(
  question: LatencyQuestion,
  durations: (question: DurationQuestion) => Promise<readonly Durations[]>,
): Promise<LatencyPoint[]> {
  const { from, to, periods = 24, all: _, ...filter } = question
  requireRange({ from, to })
  const starts = Array.from({ length: periods }, (__, index) => Math.floor(from + ((to - from) * index) / periods))
  const found = await durations({ ...filter, starts, to, most: sample })
  return starts.map((at, index) => pointOf(at, found[index] ?? { totalMs: [], firstByteMs: [] }))
}

/** The durations that a store reports, or those of the listed requests of each range. */
export async function durationsIn(store: UsageStore, question: DurationQuestion): Promise<readonly Durations[]> {
  if (store.durations !== undefined) return store.durations(question)
  const { starts, to, most, ...filter } = question
  const found: Durations[] = []
  for (const [index, start] of starts.entries()) {
    const range = { from: start, to: starts[index + 1] ?? to }
    const { items } = await store.list({ ...filter, ...range, outcome: 'completed', limit: most })
    found.push({
      totalMs: items.map(({ totalMs }) => totalMs),
      firstByteMs: items.flatMap(({ firstByteMs }) => (firstByteMs === undefined ? [] : [firstByteMs])),
    })
  }
  return found
}

function pointOf(at: number, { totalMs, firstByteMs }: Durations): LatencyPoint {
  const [total, first] = [ascending(totalMs), ascending(firstByteMs)]
  return {
    at,
    requests: total.length,
    ...(total.length > 0 && { medianMs: quantile(total, 0.5), p95Ms: quantile(total, 0.95) }),
    ...(first.length > 0 && { medianFirstByteMs: quantile(first, 0.5), p95FirstByteMs: quantile(first, 0.95) }),
  }
}

function ascending(values: readonly number[]): number[] {
  return values.toSorted((left, right) => left - right)
}

/** The smallest value that at least this share of the values does not exceed. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] as number
}
