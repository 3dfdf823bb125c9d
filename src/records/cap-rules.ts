/** The rules that caps in the options and in keys are checked by. */
import * as z from 'zod'
import { isTimeZone } from './calendar.ts'
import { capOwners } from './cap.ts'
import { strict } from './rules.ts'

const hourMs = 3_600_000

const rolling = strict({
  rollingMs: z
    .int()
    .min(hourMs)
    .max(366 * 24 * hourMs),
  grainMs: z.int().min(1).optional(),
}).refine(
  ({ rollingMs, grainMs = rollingMs / 24 }) =>
    Number.isInteger(grainMs) && rollingMs % grainMs === 0 && rollingMs / grainMs <= 100,
  '"grainMs" must divide "rollingMs" into at most 100 parts. Default: a 24th of it',
)

const limit = z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish()

function limitsSomething({ money, tokens, calls }: { money?: unknown; tokens?: unknown; calls?: unknown }): boolean {
  return money !== undefined || tokens !== undefined || calls !== undefined
}

const money = z
  .string()
  .regex(/^\d{1,9}(?:\.\d{1,6})?$/, 'must be a decimal number in a string, such as "100" or "12.5"')
  .nullish()

/** Limits by measure. */
export const capLimits: z.ZodType = strict({ money, tokens: limit, calls: limit })
  .partial()
  .refine(limitsSomething, 'must have "money", "tokens" or "calls"')

const shape = {
  name: z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"'),
  period: z.union([z.enum(['day', 'week', 'month']), rolling], {
    error: ({ input }) =>
      typeof input === 'object' ? undefined : "must be 'day', 'week', 'month' or { rollingMs, grainMs }",
  }),
  timeZone: z
    .string()
    .refine((name) => isTimeZone(name), 'must be an IANA time zone, such as "Europe/Berlin"')
    .optional(),
  weekStart: z.enum(['monday', 'sunday']).optional(),
  money,
  tokens: limit,
  calls: limit,
  thresholds: z.array(z.number().gt(0).max(100)).max(10).optional(),
  models: z.array(z.string().min(1)).min(1).max(100).optional(),
}

const mustLimit = 'must limit "money", "tokens" or "calls"'

function list(cap: z.ZodType): z.ZodType {
  return z
    .array(cap)
    .max(10)
    .refine((caps) => new Set(caps.map((each) => Object(each).name)).size === caps.length, 'must have different names')
}

/** Caps of a key. */
export const caps: z.ZodType = list(strict(shape).refine(limitsSomething, mustLimit))

/** A cap of any kind. */
export const scopedCap: z.ZodType = strict({
  ...shape,
  per: z.enum(capOwners).optional(),
}).refine(limitsSomething, mustLimit)

/** Caps of a group, or of all callers. */
export const scopedCaps: z.ZodType = list(scopedCap)
