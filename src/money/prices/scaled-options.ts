import { parseDecimal } from '../money.ts'
import type { PriceOptions } from './price-options.ts'
import { multiplierDigits, multiplierOne, rateDigits } from './rate.ts'
import { decimal } from './sum.ts'

/** A price after a factor, in exact decimal strings. */
export function scaledOptions(options: PriceOptions, multiplier: bigint): PriceOptions {
  if (multiplier === multiplierOne) return options
  const { serviceTiers = {}, ...rest } = options
  // A service tier that is a text is a factor, too.
  const tiers = Object.entries(serviceTiers).map(([name, tier]) => [
    name,
    typeof tier === 'string' ? tier : scaled(tier, multiplier),
  ])
  return {
    ...(scaled(rest, multiplier) as PriceOptions),
    ...(tiers.length > 0 && { serviceTiers: Object.fromEntries(tiers) as PriceOptions['serviceTiers'] & {} }),
  }
}

function scaled(value: unknown, multiplier: bigint): unknown {
  if (typeof value === 'string')
    return decimal(parseDecimal(value, rateDigits) * multiplier, rateDigits + multiplierDigits)
  if (Array.isArray(value)) return value.map((each) => scaled(each, multiplier))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, scaled(each, multiplier)]))
}
