/** Numbers of the table as exact decimal strings. */

import { decimal } from '../../src/money/money.ts'

/** Decimal places of a price. */
const places = 12

/** A decimal number: `digits` / 10^`scale`. */
interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** A positive decimal number such as `'0.92'`. Throws a `TypeError` that names the option. */
export function parseFactor(text: unknown, name: string): Decimal {
  const match = typeof text === 'string' ? /^(\d{1,12})(?:\.(\d{1,12}))?$/.exec(text) : null
  if (match === null) throw new TypeError(`prices: "${name}" must be a decimal number in a string, such as '1.2'`)
  const [, whole = '', fraction = ''] = match
  return { digits: BigInt(whole + fraction), scale: fraction.length }
}

/**
 * A number of the table, divided by `per` and multiplied by the factors, as a decimal string with at most 12 places,
 * rounded half up. A number is read as the shortest decimal with the same
 * floating-point value, which is the price that was published.
 */
export function exact(value: number, per: number, factors: readonly Decimal[]): string {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  let digits = BigInt(whole + fraction)
  let scale = fraction.length - Number(exponent)
  for (const factor of factors) {
    digits *= factor.digits
    scale += factor.scale
  }
  const shift = places - scale
  const numerator = shift >= 0 ? digits * 10n ** BigInt(shift) : digits
  const divisor = BigInt(per) * (shift >= 0 ? 1n : 10n ** BigInt(-shift))
  return decimal((numerator * 2n + divisor) / (divisor * 2n), places)
}
