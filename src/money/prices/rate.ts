/** Unit prices as integers, and the counts they are multiplied with. */
import { parseDecimal } from '../money.ts'

/** Decimal places of a unit price. */
export const rateDigits = 12
/** Decimal places of a price multiplier, and of the factor of a service tier. */
export const multiplierDigits = 6
/** The multiplier 1. */
export const multiplierOne: bigint = 10n ** BigInt(multiplierDigits)

/** A unit price, scaled by 10^`rateDigits`. Throws a `TypeError` that names the field of the price. */
export function parseRate(text: unknown, name: string): bigint {
  return parseScaled(text, rateDigits, `price.${name}`, 'price')
}

/** A factor on prices, such as `'0.8'`, scaled by `multiplierOne`. Throws a `TypeError` that names the option. */
export function parseFactor(text: unknown, name: string): bigint {
  return parseScaled(text, multiplierDigits, name, 'factor')
}

function parseScaled(text: unknown, digits: number, place: string, what: string): bigint {
  try {
    const value = parseDecimal(text, digits)
    if (value >= 0n) return value
  } catch (error) {
    throw new TypeError(`${place}: ${(error as Error).message}`, { cause: error })
  }
  throw new TypeError(`${place}: a ${what} cannot be negative, but "${String(text)}" is`)
}

/** A rate times a factor, rounded up at the last decimal place of a rate. */
export function scaled(rate: bigint, factor: bigint): bigint {
  return factor === multiplierOne ? rate : (rate * factor + multiplierOne - 1n) / multiplierOne
}

/** A vendor's count: 0 if it is not a positive number, rounded up otherwise. */
export function count(value: unknown): number {
  if (typeof value !== 'number' || !(value > 0)) return 0
  return Math.ceil(Math.min(value, Number.MAX_SAFE_INTEGER))
}

/** The largest of the rates. */
export function most(first: bigint, ...others: readonly bigint[]): bigint {
  return others.reduce((left, right) => (left > right ? left : right), first)
}

/** Rounded up, except for the inaccuracy of a product of floating-point numbers. */
export function milliseconds(seconds: number): number {
  return count(Math.round(seconds * 1e9) / 1e6)
}
