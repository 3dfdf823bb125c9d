import { decimal } from '../money.ts'
import { Price } from './price.ts'
import { parseRate, rateDigits, scaled } from './rate.ts'
import { withRates } from './scaled-options.ts'

/** A price times a factor, plus a fee for each request. Rates are rounded up at their last decimal place. */
export function shareOf(price: Price, factor: bigint, fee: bigint): Price {
  const { request, ...rest } = price.options
  const times = (rate: string) => scaled(parseRate(rate, 'rate'), factor)
  // A fee of nothing would count as a price for what has none.
  const hasFee = request !== undefined || fee > 0n
  const share = {
    ...withRates(rest, (rate) => decimal(times(rate), rateDigits)),
    ...(hasFee && { request: decimal(times(request ?? '0') + fee, rateDigits) }),
  }
  return new Price(share, price.source)
}
