import * as z from 'zod'
import type { LatencyQuestion } from '../../latency.ts'
import type { UsageSeriesQuestion } from '../../series.ts'
import { sums, usageFilter } from './usage.ts'
import { count, time, type Shape } from './values.ts'

const point = z.object({ at: time.describe('The start of the period.'), ...sums })

/** Sums by period. */
export const usageSeries: z.ZodObject = z.object({
  total: z.array(point).describe('Every period of the range, also those without a request.'),
  series: z.array(
    z.object({
      name: z.string().nullable().describe('Null: all others, and requests without a key or user.'),
      points: z.array(point),
    }),
  ),
})

/** Latencies of a period. */
export const latencyPoint: z.ZodObject = z.object({
  at: time.describe('The start of the period.'),
  requests: count.describe('Completed requests that were measured: the last ones of the period, at most 100.'),
  medianMs: z.number().optional(),
  p95Ms: z.number().optional(),
  medianFirstByteMs: z.number().optional(),
  p95FirstByteMs: z.number().optional(),
})

type Accounted<Question> = Omit<Question, 'account' | 'all'> & { readonly account?: string }

/** The parameters of series. */
export const seriesQuestion: Shape<Accounted<UsageSeriesQuestion>> = {
  ...usageFilter,
  from: time.describe('Start of the range, inclusive. Milliseconds since the epoch.'),
  to: time.describe('End of the range, exclusive. Milliseconds since the epoch.'),
  period: z.enum(['minute', 'quarter', 'hour', 'day']).describe('At most 400 of them. A quarter is 15 minutes.'),
  timeZone: z.string().max(64).optional().describe('Time zone in which days begin, by its IANA name. Default UTC.'),
  by: z.enum(['account', 'group', 'key', 'model', 'endpoint', 'user']).optional().describe('One series for each.'),
  top: z.int().min(1).max(20).optional().describe('Number of series; the others are added up. Default 8.'),
  measure: z.enum(['cost', 'requests', 'tokens']).optional().describe('Which are the largest. Default `cost`.'),
}

const { outcome: _, code: __, ...selection } = usageFilter

/** The parameters of latencies. */
export const latencyParameters: Shape<Accounted<LatencyQuestion>> = {
  ...selection,
  from: seriesQuestion.from,
  to: seriesQuestion.to,
  periods: z.int().min(1).max(60).optional().describe('Number of equal periods. Default 24.'),
}
