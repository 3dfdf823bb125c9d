import { invalid } from '../errors.ts'
import type { Page, PageRequest } from '../store-access/page.ts'
import type { UsageFilter, UsageRecord } from '../usage/contract.ts'
import type { UsageScope } from './scope.ts'

/** Selects the requests of which latencies are measured. */
export type LatencyQuestion = UsageScope &
  Omit<UsageFilter, 'account' | 'from' | 'to' | 'outcome' | 'code'> & {
    /** Start of the range, inclusive. Milliseconds since the epoch. */
    readonly from: number
    /** End of the range, exclusive. Milliseconds since the epoch. */
    readonly to: number
    /** Number of equal periods into which the range is divided. Default 24, at most 60. */
    readonly periods?: number
  }

/** The latencies of one period. */
export interface LatencyPoint {
  /** The start of the period. Milliseconds since the epoch. */
  readonly at: number
  /** Number of completed requests that were measured: the last ones of the period, at most 100. */
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
  list: (question: UsageFilter & PageRequest) => Promise<Page<UsageRecord>>,
): Promise<LatencyPoint[]> {
  const { from, to, periods = 24, all: _, ...filter } = question
  if (from >= to) throw invalid('"to" must be later than "from".', 'to')
  const startOf = (index: number) => Math.floor(from + ((to - from) * index) / periods)
  const points: LatencyPoint[] = []
  for (let index = 0; index < periods; index++) {
    const range = { from: startOf(index), to: startOf(index + 1) }
    const { items } = await list({ ...filter, ...range, outcome: 'completed', limit: sample })
    points.push(pointOf(range.from, items))
  }
  return points
}

function pointOf(at: number, records: readonly UsageRecord[]): LatencyPoint {
  const total = records.map(({ totalMs }) => totalMs).sort((left, right) => left - right)
  const first = records
    .flatMap(({ firstByteMs }) => (firstByteMs === undefined ? [] : [firstByteMs]))
    .sort((left, right) => left - right)
  return {
    at,
    requests: records.length,
    ...(total.length > 0 && { medianMs: quantile(total, 0.5), p95Ms: quantile(total, 0.95) }),
    ...(first.length > 0 && { medianFirstByteMs: quantile(first, 0.5), p95FirstByteMs: quantile(first, 0.95) }),
  }
}

/** The smallest value that at least this share of the values does not exceed. */
function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] as number
}
