import { Price } from './price.ts'
import type { PriceOptions } from './price-options.ts'
import { parseRate, rateDigits, scaled } from './rate.ts'
import { decimal } from './sum.ts'

/** A price times a factor, plus a fee for each request. Rates are rounded up at their last decimal place. */
export function shareOf(price: Price, factor: bigint, fee: bigint): Price {
  const { serviceTiers = {}, request, ...rest } = price.options
  // A tier that is a factor on the others stays what it is.
  const tiers = Object.entries(serviceTiers).map(([name, tier]) => [
    name,
    typeof tier === 'string' ? tier : times(tier, factor),
  ])
  // A fee of nothing would count as a price for what has none.
  const hasFee = request !== undefined || fee > 0n
  const share: PriceOptions = {
    ...times(rest, factor),
    ...(tiers.length > 0 && { serviceTiers: Object.fromEntries(tiers) as NonNullable<PriceOptions['serviceTiers']> }),
    ...(hasFee && { request: written(scaled(parseRate(request ?? '0', 'request'), factor) + fee) }),
  }
  return new Price(share, price.source)
}

/** With all rates in it, at whatever depth, multiplied. Numbers are lengths of prompts and durations. */
function times<T>(value: T, factor: bigint): T {
  if (typeof value === 'string') return written(scaled(parseRate(value, 'rate'), factor)) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each: unknown) => times(each, factor)) as T
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, times(each as unknown, factor)])) as T
}

function written(rate: bigint): string {
  return decimal(rate, rateDigits)
}
