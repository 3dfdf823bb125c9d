/** What usage records count: tokens, images, seconds, and every unit of `countedUnits`. */
import * as z from 'zod'
import { countedNames, countedUnits, type CountedUnits } from '../../wire/units.ts'
import type { Receipt } from '../../money/receipt.ts'

/** Of a request what it used, of sums what requests used together. */
export interface UsageUnits extends Required<CountedUnits> {
  /** Tokens of the prompt. */
  readonly promptTokens: number
  /** Prompt tokens read from the vendor's cache, included in `promptTokens`. */
  readonly cachedTokens: number
  /** Tokens of the response. */
  readonly completionTokens: number
  /** Completion tokens spent on reasoning, included in `completionTokens`. */
  readonly reasoningTokens: number
  /** Number of images. */
  readonly images: number
  /** Seconds of video or audio. */
  readonly seconds: number
}

interface UsageUnit {
  /** With what the OpenAPI document says of it. */
  readonly rule: z.ZodType
  /** How much of it a request used. */
  readonly of: (receipt: Pick<Receipt, 'usage' | 'units'>) => number | undefined
}

const count = z.number().min(0)

export const units: Readonly<Record<keyof UsageUnits, UsageUnit>> = {
  promptTokens: { rule: count, of: ({ usage }) => usage.prompt_tokens },
  cachedTokens: {
    rule: count.describe('Included in `promptTokens`.'),
    of: ({ usage }) => usage.prompt_tokens_details?.cached_tokens,
  },
  completionTokens: { rule: count, of: ({ usage }) => usage.completion_tokens },
  reasoningTokens: {
    rule: count.describe('Included in `completionTokens`.'),
    of: ({ usage }) => usage.completion_tokens_details?.reasoning_tokens,
  },
  images: { rule: count, of: (receipt) => receipt.units?.images },
  seconds: { rule: count.describe('Seconds of video or audio.'), of: (receipt) => receipt.units?.seconds },
  ...(Object.fromEntries(countedNames.map((name) => [name, counted(name)])) as Record<keyof CountedUnits, UsageUnit>),
}

function counted(name: keyof CountedUnits): UsageUnit {
  return { rule: count.describe(countedUnits[name].says), of: (receipt) => receipt.units?.[name] }
}

/** The fields of usage records that are added up, besides their cost. */
export const usageUnits: readonly (keyof UsageUnits)[] = Object.keys(units) as (keyof UsageUnits)[]

/** An object with a value for each unit. */
export function eachUnit<T>(of: (unit: keyof UsageUnits) => T): { readonly [Unit in keyof UsageUnits]: T } {
  return Object.fromEntries(usageUnits.map((unit) => [unit, of(unit)])) as never
}
