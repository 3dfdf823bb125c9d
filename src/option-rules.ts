/** The rules that options are checked by, and how a breach of them is told. */
import * as z from 'zod'
import { longestTimerMs } from './http/deadline.ts'
import { noneOf } from './known-options.ts'
import { parseFrequency } from './limits/rate.ts'

/** An object of these options and no others. */
export function strict<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? noneOf(issue.keys, Object.keys(shape)) : undefined),
  })
}

/** A value that another function parses: its message is the message. */
export function parsed(parse: (value: never) => unknown): z.ZodType {
  return z.unknown().superRefine((value, context) => {
    try {
      parse(value as never)
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message })
    }
  })
}

/** Throws a `TypeError` that names the option at fault. */
export function verify(rules: z.ZodType, value: unknown, place: string): void {
  const result = rules.safeParse(value)
  if (result.success) return
  const issue = result.error.issues[0] as z.core.$ZodIssue
  const path = [place, ...issue.path].filter((key) => key !== '').join('.')
  throw mistake(path === '' ? 'the options' : path, issue.message)
}

export function mistake(place: string, message: string): TypeError {
  return new TypeError(`createGateway: ${place}: ${message}`)
}

export const positive: z.ZodNumber = z.number().positive()

/** Milliseconds that a timer counts. */
export const timed: z.ZodNumber = positive.max(longestTimerMs)

export const anyFunction: z.ZodType = z.custom((value) => typeof value === 'function', 'must be a function')

const frequency = parsed(parseFrequency)

const rates = { requests: frequency, tokens: frequency, concurrent: z.int().min(1) }

export const rate: z.ZodType = strict(rates).partial()

export const scopedRate: z.ZodType = strict({ ...rates, per: z.enum(['account', 'key', 'all']) }).partial()

export const cancelled: z.ZodType = strict({
  vendor: z.enum(['abort', 'drain']),
  charge: z.enum(['delivered', 'reported', 'none']),
  drainMs: timed,
}).partial()
