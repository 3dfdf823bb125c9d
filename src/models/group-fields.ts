/** What is chosen of a group, in the options or by administration. A new field is a line of `Group` and one of `groupFields`. */
import * as z from 'zod'
import type { Inspect } from '../inspect/contract.ts'
import { parsePriceMultiplier } from '../money/prices/price.ts'
import { parseGroupPrices, type GroupPrices } from './group-prices.ts'
import type { ScopedCap } from '../records/cap.ts'
import { scopedCaps } from '../records/cap-rules.ts'
import type { ScopedRate } from '../records/rate.ts'
import { scopedRate } from '../records/rate-rules.ts'
import { parsed, positive } from '../records/rules.ts'

/** A model group: the models, limits and prices of its keys. */
export interface Group {
  /** `'*'` for all models, or model names, each of which may end in `*`. */
  readonly models: '*' | readonly string[]
  /** Limits, counted per account of the group unless `per` is set. */
  readonly rate?: ScopedRate
  /** Limits of what is used in a period, per account of the group unless `per` is set. Requires `billing`. */
  readonly caps?: readonly ScopedCap[]
  /** Factor applied to all prices, such as `'0.8'`. Default `'1'`. Only used with `billing`. */
  readonly priceMultiplier?: string
  /**
   * Prices of single models for this group, by names that may end in `*`, of which the longest comes first. `priceMultiplier`
   * applies to them too. Default: those of the models. Only used with `billing`.
   */
  readonly prices?: GroupPrices
  /** The part of a vendor's limit that an account of the group gets, relative to others. Default 1. Only used with `fairness`. */
  readonly weight?: number
  /** `background`: calls wait for all others where a vendor's limit is near. Default `usual`. Only used with `fairness`. */
  readonly priority?: 'usual' | 'background'
}

/** A model group in the options. */
export interface GroupOptions extends Group {
  /** What looks into the requests of the group and their answers, after the inspectors of the gateway. Default: nothing. */
  readonly inspect?: readonly Inspect[]
}

/** Model groups by name. */
export type Groups = Readonly<Record<string, Group>>

/** The rule of each field, with what the OpenAPI document says of it. */
export const groupFields: Readonly<Record<keyof Group, z.ZodType>> = {
  models: z
    .union([z.literal('*'), z.array(z.string())], "must be '*' or a list of model names")
    .describe('`*` for all models, or names, each of which may end in `*`.'),
  priceMultiplier: parsed(parsePriceMultiplier)
    .meta({ type: 'string' })
    .describe('Factor on all prices, such as `0.8`. Default `1`.'),
  prices: parsed(parseGroupPrices)
    .meta({ type: 'object' })
    .describe('Prices of single models, by names that may end in `*`, in place of those of the models.'),
  rate: scopedRate.describe('Limits per account of the group unless `per` is set, such as `{ "requests": "60/min" }`.'),
  caps: scopedCaps.describe('Limits of what is used in a period, per account of the group unless `per` is set.'),
  weight: positive.describe("The part of a vendor's limit that an account of the group gets. Default 1."),
  priority: z.enum(['usual', 'background']).describe('`background`: calls wait for all others where a limit is near.'),
}
