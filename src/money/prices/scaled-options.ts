import { decimal, parseDecimal } from '../money.ts'
import type { PriceOptions } from './price-options.ts'
import { multiplierDigits, multiplierOne, rateDigits } from './rate.ts'

/** A price after a factor, in exact decimal strings. */
export function scaledOptions(options: PriceOptions, multiplier: bigint): PriceOptions {
  if (multiplier === multiplierOne) return options
  const digits = rateDigits + multiplierDigits
  return withRates(options, (rate) => decimal(parseDecimal(rate, rateDigits) * multiplier, digits))
}

/** With all rates in it changed, at whatever depth. A service tier that is a text is a factor on them, and stays. */
export function withRates(
  { serviceTiers = {}, ...rest }: PriceOptions,
  change: (rate: string) => string,
): PriceOptions {
  const tiers = Object.entries(serviceTiers).map(([name, tier]) => [
    name,
    typeof tier === 'string' ? tier : changed(tier, change),
  ])
  return {
    ...(changed(rest, change) as PriceOptions),
    ...(tiers.length > 0 && { serviceTiers: Object.fromEntries(tiers) as PriceOptions['serviceTiers'] & {} }),
  }
}

/** Numbers are lengths of prompts and durations. */
function changed(value: unknown, change: (rate: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => changed(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, changed(each, change)]))
}
