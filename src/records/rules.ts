import * as z from 'zod'
import { breachWords } from './breach-words.ts'
import { longestTimerMs, noneOf } from './known-options.ts'
import { isStorable } from './storable-text.ts'

/** An object that may have only these options. */
export function strict<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? noneOf(issue.keys, Object.keys(shape)) : undefined),
  })
}

/** The same rules for fields that may be absent. */
export function optionalOf<Name extends string>(
  fields: Readonly<Record<Name, z.ZodType>>,
): Record<Name, z.ZodOptional<z.ZodType>> {
  const each = Object.entries<z.ZodType>(fields).map(([name, rule]) => [name, rule.optional()])
  return Object.fromEntries(each) as Record<Name, z.ZodOptional<z.ZodType>>
}

/** A value that is valid if `parse` accepts it. */
export function parsed(parse: (value: never) => unknown): z.ZodType {
  return z.unknown().superRefine((value, context) => {
    try {
      parse(value as never)
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message })
    }
  })
}

interface Breach {
  /** Path of the invalid field; empty for the value itself. */
  readonly path: string
  readonly message: string
}

export function breachOf(rules: z.ZodType, value: unknown): Breach | undefined {
  const result = rules.safeParse(value, { error: breachWords })
  if (result.success) return undefined
  const issue = result.error.issues[0] as z.core.$ZodIssue
  return { path: issue.path.join('.'), message: issue.message }
}

/** Throws a `TypeError` that names the invalid option. */
export function verify(rules: z.ZodType, value: unknown, place: string, maker = 'createGateway'): void {
  const breach = breachOf(rules, value)
  if (breach === undefined) return
  const path = [place, breach.path].filter((part) => part !== '').join('.')
  throw mistake(path === '' ? 'the options' : path, breach.message, maker)
}

export function mistake(place: string, message: string, maker = 'createGateway'): TypeError {
  return new TypeError(`${maker}: ${place}: ${message}`)
}

export const anyText: z.ZodString = z.string().min(1)

/** A text that every store can keep. `longest`: in UTF-16 code units. */
export function storable(longest = 512): z.ZodType<string> {
  return z
    .custom<string>(
      (value) => isStorable(value, longest),
      `must be a string of at most ${longest} characters, without NUL or unpaired surrogates`,
    )
    .meta({ type: 'string', maxLength: longest })
}

/** Milliseconds since the epoch. Rejects values in the range of current times in seconds, which are a likely mistake. */
export const instant: z.ZodType<number> = z
  .number('must be milliseconds since the epoch')
  .refine((value) => Number.isSafeInteger(value), {
    message: 'must be whole milliseconds since the epoch',
    abort: true,
  })
  .refine((value) => value >= 0, { message: 'must be milliseconds since the epoch', abort: true })
  .refine(
    (value) => value < 1e8 || value >= 1e11,
    'must be milliseconds since the epoch, but looks like seconds: multiply it by 1000',
  )

export const positive: z.ZodNumber = z.number().positive()

/** Milliseconds of a timer. */
export const timed: z.ZodNumber = positive.max(longestTimerMs)

export const anyFunction: z.ZodType = z.custom((value) => typeof value === 'function', 'must be a function')

export const onDisconnect: z.ZodType = strict({
  vendor: z.enum(['auto', 'abort', 'drain']),
  charge: z.enum(['delivered', 'reported', 'none']),
  unanswered: z.enum(['prompt', 'none']),
  drainMs: timed,
}).partial()
