/** What usage records count: tokens, images, seconds, and every unit of `countedUnits`. */
import * as z from 'zod'
import { countedNames, countedUnits, type CountedUnits } from '../../wire/units.ts'

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

const count = z.number().min(0)

/** Of each unit its rule, with what the OpenAPI document says of it. */
export const units: Readonly<Record<keyof UsageUnits, z.ZodType>> = {
  promptTokens: count,
  cachedTokens: count.describe('Included in `promptTokens`.'),
  completionTokens: count,
  reasoningTokens: count.describe('Included in `completionTokens`.'),
  images: count,
  seconds: count.describe('Seconds of video or audio.'),
  ...(Object.fromEntries<z.ZodType>(
    countedNames.map((name) => [name, count.describe(countedUnits[name].says)]),
  ) as Record<keyof CountedUnits, z.ZodType>),
}

/** The fields of usage records that are added up, besides their cost. */
export const usageUnits: readonly (keyof UsageUnits)[] = Object.keys(units) as (keyof UsageUnits)[]

/** An object with a value for each unit. */
export function eachUnit<T>(of: (unit: keyof UsageUnits) => T): { readonly [Unit in keyof UsageUnits]: T } {
  return Object.fromEntries(usageUnits.map((unit) => [unit, of(unit)])) as never
}
