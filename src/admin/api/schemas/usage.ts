import * as z from 'zod'
import type { UsageDimension, UsageFilter, UsageSummary } from '../../../observe/usage/contract.ts'
import { count, id, money, text, time, type Shape } from './values.ts'

/** The parameters that select requests. */
export const usageFilter: Shape<UsageFilter> = {
  account: id.optional(),
  key: text.optional().describe('Public id of a key.'),
  model: text.optional(),
  user: text.optional(),
  tag: text.optional(),
  session: text.optional(),
  outcome: z.enum(['completed', 'failed', 'cancelled', 'refused']).optional(),
  code: text.optional().describe('Error code.'),
  from: time.optional().describe('Earliest start, inclusive. Milliseconds since the epoch.'),
  to: time.optional().describe('Latest start, exclusive. Milliseconds since the epoch.'),
}

type Counts = Pick<UsageSummary, 'requests' | 'incomplete' | Tokens | 'images' | 'seconds' | 'cost'>
type Tokens = 'promptTokens' | 'cachedTokens' | 'completionTokens' | 'reasoningTokens'

/** The dimensions of sums. */
export const dimension: z.ZodType<UsageDimension> = z.enum([
  'day',
  'period',
  'account',
  'group',
  'key',
  'model',
  'endpoint',
  'user',
  'tag',
  'session',
])

/** What is summed, besides the filter. */
export interface SumParameters {
  readonly by?: UsageDimension[]
  readonly timeZone?: string
  readonly offsetMinutes?: number
  readonly periodMs?: number
}

/** The parameters of sums. */
export const usageSums: Shape<UsageFilter & SumParameters> = {
  ...usageFilter,
  by: z.array(dimension).max(10).optional().describe('One row for each combination that occurs. Default: one row.'),
  timeZone: z.string().max(64).optional().describe('Time zone of the days, by its IANA name. Default UTC.'),
  offsetMinutes: z.int().min(-1_440).max(1_440).optional().describe('The same as minutes ahead of UTC.'),
  periodMs: z
    .int()
    .min(60_000)
    .optional()
    .describe('Length of the periods of `by=period` in milliseconds. Default one hour.'),
}

/** What a row or a point of sums has. */
export const sums: Readonly<Record<keyof Counts, z.ZodType>> = {
  requests: count,
  incomplete: count.describe('Requests that failed or were cancelled.'),
  promptTokens: count,
  cachedTokens: count,
  completionTokens: count,
  reasoningTokens: count,
  images: count,
  seconds: count.describe('Seconds of video or audio.'),
  cost: money,
}

/** A row of sums. */
export const usageRow: z.ZodObject = z.object({
  day: z.string().optional(),
  period: time.optional().describe('The start of the period.'),
  account: z.string().optional(),
  group: z.string().optional(),
  key: z.string().optional(),
  model: z.string().optional(),
  endpoint: z.string().optional(),
  user: z.string().optional(),
  tag: z.string().optional(),
  session: z.string().optional(),
  ...sums,
})

const forOperator = 'Only for the operator.'

const attempt = z.object({
  provider: z.string().optional().describe(forOperator),
  providerModel: z.string().optional().describe(forOperator),
  outcome: z.enum(['succeeded', 'rejected', 'failed', 'aborted']),
  status: z.number().optional().describe('The HTTP status of the vendor. Only for the operator.'),
  code: z.string().optional(),
  startMs: z.number(),
  ms: z.number(),
})

/** A request in the log. */
export const request: z.ZodObject = z.object({
  id: z.string(),
  account: id,
  group: z.string(),
  key: z.string().optional(),
  user: z.string().optional(),
  session: z.string().optional(),
  agent: z.string().optional().describe('The agent within the session.'),
  tags: z.array(z.string()).optional(),
  endpoint: z.string(),
  model: z.string(),
  provider: z.string().optional().describe(forOperator),
  providerModel: z.string().optional().describe(forOperator),
  outcome: z.enum(['completed', 'failed', 'cancelled', 'refused']),
  code: z.string().optional(),
  attempts: count.optional(),
  attemptLog: z.array(attempt).optional(),
  stream: z.boolean(),
  promptTokens: count,
  cachedTokens: count,
  completionTokens: count,
  reasoningTokens: count,
  images: count,
  seconds: count,
  cost: money,
  overage: money,
  basis: z.string().describe('What the charge is based on.'),
  lines: z.array(z.object({ item: z.string(), quantity: count, per: count, price: z.string() })).optional(),
  startedAt: time,
  firstByteMs: z.number().optional(),
  totalMs: z.number(),
})
