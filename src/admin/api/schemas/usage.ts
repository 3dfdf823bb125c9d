import * as z from 'zod'
import { usageFields, usageFieldsWith } from '../../../observe/usage/fields.ts'
import { eachUnit, units, type UsageUnits } from '../../../observe/usage/units.ts'
import { usageDimensions, type UsageRecord } from '../../../observe/usage/contract.ts'
import { time } from '../../questions.ts'
import { component, count, money } from './values.ts'

/** What a row or a point of sums has. */
const sums: Readonly<Record<keyof UsageUnits | 'requests' | 'incomplete' | 'cost', z.ZodType>> = {
  requests: count,
  incomplete: count.describe('Requests that failed or were cancelled.'),
  ...eachUnit((unit) => units[unit]),
  cost: money,
}

const costs = {
  vendorCost: money.optional().describe('What was spent at vendors, as far as it is known. Only for the operator.'),
  margin: money.optional().describe('`cost` less `vendorCost`. Only for the operator.'),
}

const uncosted = count
  .optional()
  .describe('Requests that are not in `vendorCost`, because it is not known. Only for the operator.')

/** A row of sums. */
export const usageRow: z.ZodObject = component(
  'UsageRow',
  z.object({
    day: z.string().optional(),
    period: time.optional().describe('The start of the period.'),
    ...Object.fromEntries(usageDimensions.slice(2).map((name) => [name, z.string().optional()])),
    ...sums,
    ...costs,
    uncosted,
  }),
)

/** Fields of requests, for these and for records of what they made. */
export function ofRequest(...names: readonly (keyof UsageRecord)[]): z.ZodRawShape {
  return Object.fromEntries(names.map((name) => [name, usageFields[name].rule]))
}

/** A request in the log. */
export const request: z.ZodObject = component(
  'Request',
  z.object({ ...ofRequest(...usageFieldsWith()), margin: costs.margin }),
)

/** A request in progress. */
export const openCall: z.ZodObject = component(
  'OpenCall',
  z.object({
    id: z.string(),
    ...Object.fromEntries(['endpoint', 'account', 'group', 'model'].map((name) => [name, z.string()])),
    ...Object.fromEntries(['key', 'user', 'provider', 'providerModel'].map((name) => [name, z.string().optional()])),
    attempts: count,
    stream: z.boolean(),
    startedAt: time,
    ageMs: z.number().describe('Milliseconds since the request arrived.'),
    firstByteMs: z.number().optional().describe('Absent until the response has begun.'),
    promptTokens: count.describe('Reported by the vendor, or an estimate.'),
    completionTokens: count.describe('So far: reported by the vendor, or an estimate.'),
    disconnected: z.boolean().describe('Whether the client has gone, and the response is still read for its usage.'),
  }),
)

const point = z.object({ at: time.describe('The start of the period.'), ...sums, ...costs, uncosted })

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
