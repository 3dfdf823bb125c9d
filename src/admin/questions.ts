/** What administration is asked, field by field: for its own rules, and for the parameters and bodies of the admin API. */
import * as z from 'zod'
import { isTimeZone } from '../records/calendar.ts'
import { capLimits } from '../records/cap-rules.ts'
import type { PageRequest } from '../records/page.ts'
import { instant, storable, strict } from '../records/rules.ts'
import { keySearched } from '../callers/key-fields.ts'
import { user } from '../callers/key-rules.ts'
import type { KeyQuestion } from '../callers/contract.ts'
import {
  usageDimensions,
  type UsageDimension,
  type UsageFilter,
  type UsageQuestion,
} from '../observe/usage/contract.ts'
import type { VideoState } from '../wire/video.ts'
import type { AuditFilter } from './audit/contract.ts'
import type { LatencyQuestion } from './latency.ts'
import type { UsageSeriesQuestion } from './series.ts'
import type { TimeRange } from './time-range.ts'

/** A rule for each field of a type, so that the compiler finds one that is missing. */
export type Shape<T> = { readonly [Name in keyof Required<T>]: z.ZodType<T[Name]> }

/** The id of an account, key, request or payment. */
export const id: z.ZodString = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters')
  .meta({ minLength: 1, maxLength: 128, pattern: undefined })

/** A key at a vendor. Messages never repeat it. */
export const apiKey: z.ZodString = z
  .string()
  .regex(/^[\x21-\x7e]{8,4096}$/, 'must be a key of 8 to 4,096 visible ASCII characters, without spaces')
  .meta({ minLength: 8, maxLength: 4_096, pattern: undefined })

/** A text that is compared or stored. */
export const text: z.ZodType<string> = storable()

export const time: z.ZodType<number> = instant.describe('Milliseconds since the epoch.')

const longestMs = 366 * 86_400_000

/** Milliseconds, at most a year. */
export function lasting(leastMs: number): z.ZodNumber {
  return z.int().min(leastMs).max(longestMs)
}

export const page: Shape<PageRequest> = {
  limit: z.int().min(1).max(1_000).optional().describe('Maximum number of items. Default 100.'),
  after: text.optional().describe('`next` of the previous page.'),
}

export const accountShape: Shape<{ readonly name?: string; readonly unlimited?: boolean }> = {
  name: text.optional(),
  unlimited: z.boolean().optional(),
}

export const prefix: z.ZodType<string | undefined> = z
  .union([z.literal(''), id])
  .optional()
  .describe('Only accounts whose id begins with this text.')

export const auditFilter: Shape<AuditFilter> = {
  account: id.optional().describe('The account that entries concern.'),
  actor: id.optional().describe('Who did it.'),
  action: text.optional().describe('What was done, such as `keys.update`.'),
  from: time.optional(),
  to: time.optional(),
}

export const timeZone: z.ZodType<string | undefined> = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin')
  .optional()
  .describe('Time zone in which days and months begin, by its IANA name. Default UTC.')

/** A payment to an account. */
export interface TopUp {
  /** The account that is credited. */
  readonly account: string
  /** A decimal string, such as `'50'`. */
  readonly amount: string
  /** Unique id of the order or payment event. A payment with the same reference is never counted twice. */
  readonly reference: string
  /** A remark, stored with the entry. */
  readonly note?: string
  /**
   * When what is left of it expires. Milliseconds since the epoch. Charges use up first what expires first. Default: never. Only
   * for an amount above zero.
   */
  readonly expiresAt?: number
}

/** A refund of a request. */
export interface Refund {
  /** The account that was charged. */
  readonly account: string
  /** The id of the request, as in `x-request-id` and in usage records. */
  readonly request: string
  /** A decimal string. Default: all that the request cost. */
  readonly amount?: string
  /** Why, stored with the entry. */
  readonly reason: string
}

/** Its form is checked when it is parsed. */
const amount = z
  .unknown()
  .meta({ type: 'string', maxLength: 40, description: 'A decimal string in the currency of the gateway.' })

export const payment: Shape<Omit<TopUp, 'account'>> = {
  amount: amount as z.ZodType<string>,
  reference: id.describe('Your id of the payment. The same reference and amount again changes nothing.'),
  note: storable(4_096).optional(),
  expiresAt: time.optional().describe('Milliseconds since the epoch: what is left then expires. Default: never.'),
}

export const refund: Shape<Omit<Refund, 'account'>> = {
  request: id,
  amount: amount.optional().describe('A decimal string. Default: all that the request cost.') as z.ZodType<
    string | undefined
  >,
  reason: storable(4_096).refine((value) => value !== '', 'must say why'),
}

export const keySearch: Shape<Omit<KeyQuestion, 'now' | 'limit' | 'after'>> = {
  account: id.optional(),
  group: text.optional(),
  user: text.optional(),
  tag: text.optional(),
  text: text.optional().describe(`Part of one of the fields ${keySearched.join(', ')}.`),
  state: z.enum(['active', 'expired', 'revoked']).optional(),
}

export const overlapMs: z.ZodType<number | undefined> = lasting(0)
  .optional()
  .describe('Milliseconds for which the old key stays valid. Default: one day.')

/** Whose caps are meant: those that apply to calls with this account, key, group and user. */
export interface CapSubject {
  /** The account that pays. */
  readonly account: string
  /** Public id of a key of the account. Default: calls without a key. */
  readonly key?: string
  /** The group of the caller. Default: that of the key; without a key, caps of groups are left out. */
  readonly group?: string
  /** The user. Default: that of the key; without one, caps per user are left out. */
  readonly user?: string
  /** The tag. Default: those of the key; without any, caps per tag are left out. */
  readonly tag?: string
  /** The model. Default: caps per model, and caps of some models, are left out. */
  readonly model?: string
}

/** Amounts of a cap: money as a decimal string. */
export interface CapAmountsView {
  /** In `billing.currency`. */
  readonly money?: string
  /** Prompts and answers together. */
  readonly tokens?: number
  /** Calls that did not fail. */
  readonly calls?: number
}

/** New limits of a cap. Null removes a limit; a measure that is absent keeps its own. */
export type CapLimitsChange = { readonly [Measure in keyof CapAmountsView]?: CapAmountsView[Measure] | null }

/** A change of the limits of one cap of one subject. */
export interface CapOverrideRequest extends CapSubject {
  /** The name of the cap. */
  readonly cap: string
  /** The new limits, of measures that the cap has. */
  readonly limits: CapLimitsChange
  /** Milliseconds since the epoch: the limits apply until then. Default: until they are changed. */
  readonly until?: number
}

export const capSubject: Shape<Omit<CapSubject, 'account'>> = {
  key: text.optional(),
  group: text.optional(),
  user: user.optional(),
  tag: text.optional(),
  model: text.optional(),
}

export const capOverride: Shape<Omit<CapOverrideRequest, 'account' | 'cap'>> = {
  ...capSubject,
  limits: capLimits as z.ZodType<CapOverrideRequest['limits']>,
  until: time.optional().describe('Milliseconds since the epoch. Default: until the limits are changed.'),
}

type Selection = Omit<UsageFilter, 'account' | 'outcome' | 'code' | 'from' | 'to'>

const selection: Shape<Selection> = {
  key: text.optional().describe('Public id of a key.'),
  model: text.optional(),
  user: text.optional(),
  tag: text.optional(),
  session: text.optional(),
}

const outcomes = ['completed', 'failed', 'cancelled'] as const

/** What selects the requests that are summed. */
export const usageFilter: Shape<Omit<UsageFilter, 'account'>> = {
  ...selection,
  outcome: z.enum(outcomes).optional(),
  code: text.optional().describe('Error code.'),
  from: time.optional().describe('Earliest start, inclusive. Milliseconds since the epoch.'),
  to: time.optional().describe('Latest start, exclusive. Milliseconds since the epoch.'),
}

/** What selects the requests that are listed. */
export const listFilter: Shape<Omit<UsageFilter, 'account'>> = {
  ...usageFilter,
  outcome: z.enum([...outcomes, 'refused']).optional(),
}

export const dimensions: z.ZodType<UsageDimension[]> = z
  .array(z.enum(usageDimensions))
  .max(10)
  .describe(
    'One row for each combination that occurs; `provider` and `providerModel` only for the operator. Default: one row.',
  )

const measure = z.enum(['cost', 'requests', 'tokens'])

export const largest: z.ZodType<UsageQuestion['largest']> = strict({ most: z.int().min(1), measure }).optional()

type Sums = Partial<Pick<UsageQuestion, 'by' | 'offsetMinutes' | 'periodMs'>> & { readonly timeZone?: string }

export const usageSums: Shape<Omit<UsageFilter, 'account'> & Sums> = {
  ...usageFilter,
  by: dimensions.optional(),
  timeZone,
  offsetMinutes: z.int().min(-1_440).max(1_440).optional().describe('The same as minutes ahead of UTC.'),
  periodMs: lasting(60_000)
    .optional()
    .describe('Length of the periods of `by=period` in milliseconds. Default one hour.'),
}

type Accounted<Question> = Omit<Question, 'account' | 'all'>

const range = {
  from: time.describe('Start of the range, inclusive. Milliseconds since the epoch.'),
  to: time.describe('End of the range, exclusive. Milliseconds since the epoch.'),
}

export const seriesQuestion: Shape<Omit<Accounted<UsageSeriesQuestion>, 'costs'>> = {
  ...usageFilter,
  ...range,
  period: z.enum(['minute', 'quarter', 'hour', 'day']).describe('At most 400 of them. A quarter is 15 minutes.'),
  timeZone,
  by: z.enum(['account', 'group', 'key', 'model', 'endpoint', 'user']).optional().describe('One series for each.'),
  top: z.int().min(1).max(20).optional().describe('Number of series; the others are added up. Default 8.'),
  measure: measure.optional().describe('Which are the largest. Default `cost`.'),
}

export const latencyQuestion: Shape<Accounted<LatencyQuestion>> = {
  ...selection,
  ...range,
  periods: z.int().min(1).max(60).optional().describe('Number of equal periods. Default 24.'),
}

export const month: z.ZodString = z.string().regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, "must be a month, such as '2030-04'")

/** The period of an invoice: a month, or two times. */
export const invoicePeriod: Shape<Partial<TimeRange> & { readonly month?: string; readonly timeZone?: string }> = {
  month: month.optional().describe('A calendar month, such as `2030-04`. Not with `from` and `to`.'),
  timeZone,
  from: time.optional(),
  to: time.optional(),
}

export const videoFilter: Shape<{ readonly state?: VideoState; readonly model?: string }> = {
  state: z.enum(['pending', 'processing', 'completed', 'failed']).optional(),
  model: text.optional(),
}
