import * as z from 'zod'
import { time } from '../../questions.ts'
import { sums } from './usage.ts'
import { count } from './values.ts'

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
