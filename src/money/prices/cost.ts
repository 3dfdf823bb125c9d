import { decimal } from '../money.ts'
import { multiplierOne, parseFactor } from './rate.ts'
import { Price, type Consumption } from './price.ts'
import type { PriceOptions } from './price-options.ts'

/**
 * What calls of a deployment cost the host: rates of its own, or, without any, the vendor's list price from the price table;
 * either times a factor.
 */
export interface CostOptions extends PriceOptions {
  /** The factor, such as `'0.9'` for a discount of 10 %. Default `'1'`. */
  readonly multiplier?: string
}

/** A parsed cost. */
export interface Cost {
  /** Undefined until it is found in a price table. */
  readonly price: Price | undefined
  /** Scaled by `multiplierOne`. */
  readonly multiplier: bigint
}

/** Decimal places of a cost: the cheapest calls cost less than a millionth. */
const digits = 9

/** One millionth, of amounts that are charged, in billionths. */
const microCosts = 1_000n

/** Throws a `TypeError` that names the invalid field. */
export function parseCost({ multiplier, ...rates }: CostOptions): Cost {
  try {
    return {
      price: Object.keys(rates).length === 0 ? undefined : new Price(rates),
      multiplier: multiplier === undefined ? multiplierOne : parseFactor(multiplier, 'price.multiplier'),
    }
  } catch (error) {
    throw new TypeError((error as Error).message.replace(/^price\b/, 'cost'), { cause: error })
  }
}

/** What a deployment's list price costs, if it has no rates of its own. */
export function atListPrice(cost: Cost | undefined, list: Price | undefined): Cost | undefined {
  if (list === undefined || cost?.price !== undefined) return cost
  return { price: list, multiplier: cost?.multiplier ?? multiplierOne }
}

/** What something costs in billionths of the currency, rounded; undefined if the rates are not known. */
export function costOf({ price, multiplier }: Cost, consumed: Consumption): bigint | undefined {
  return price?.exactly(consumed, multiplier, digits)
}

/** A cost as a decimal string. */
export function formatCost(billionths: bigint): string {
  return decimal(billionths, digits)
}

/** What is left of what was charged, in millionths, as a decimal string. */
export function formatMargin(charged: bigint, cost: bigint): string {
  return decimal(charged * microCosts - cost, digits)
}
