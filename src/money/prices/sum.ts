/** The sum of a charge: exact, and rounded up once at its end. */
import { decimal, mostMicros } from '../money.ts'
import { multiplierDigits, rateDigits } from './rate.ts'

/** A line of a charge. `amount` = `quantity` / `per` × `price`, exactly. */
export interface ChargeLine {
  /**
   * What is charged, by its name in a price: `input`, `cacheWrite1h`, `image`, `tools.web_search`. `held`: an amount agreed
   * before, at a price that is no longer known.
   */
  readonly item: string
  /** How much of it. Seconds and hours are counted in milliseconds. */
  readonly quantity: number
  /** The quantity to which `price` refers: 1,000,000 for tokens, 1 for images and calls, 3,600,000 for hours. */
  readonly per: number
  /** The price of `per`, after the group's price multiplier and the factor of the service tier. A decimal string. */
  readonly price: string
  /** A decimal string, not rounded. A price per hour is rounded up at the 18th decimal place before the multiplier. */
  readonly amount: string
}

/** Decimal places of a sum before the multiplier, and with it. */
const sumDigits = rateDigits + 6
const exactDigits = sumDigits + multiplierDigits
const microDivisor = 10n ** BigInt(exactDigits - 6)

/** A quantity times its rate, scaled by 10^`sumDigits`. */
export function product(quantity: number, per: number, rate: bigint): bigint {
  if (rate === 0n) return 0n
  const amount = BigInt(quantity) * rate
  if (per === 1_000_000) return amount
  if (per === 1) return amount * 1_000_000n
  const divisor = BigInt(per)
  return (amount * 1_000_000n + divisor - 1n) / divisor
}

/** A sum in micro-units: rounded up once, so that rounding never makes a request free. */
export function roundedUp(sum: bigint, multiplier: bigint): bigint {
  const micros = (sum * multiplier + microDivisor - 1n) / microDivisor
  return micros < mostMicros ? micros : mostMicros
}

/** A sum with so many decimal places, rounded half up. */
export function rounded(sum: bigint, multiplier: bigint, digits: number): bigint {
  const divisor = 10n ** BigInt(exactDigits - digits)
  return (sum * multiplier * 2n + divisor) / (divisor * 2n)
}

/** The lines of a sum, and what rounding up added to them: together they are exactly what is charged. */
export interface ChargeLines {
  /** Each part. */
  readonly lines: readonly ChargeLine[]
  /** A decimal string. */
  readonly rounding: string
}

/** The lines of a sum whose parts `each` adds. Parts that cost nothing have none. */
export function linesOf(sum: bigint, multiplier: bigint, each: (add: Add) => void): ChargeLines {
  const lines: ChargeLine[] = []
  each((item, quantity, per, rate) => {
    if (rate > 0n) lines.push(lineOf(item, quantity, per, rate, multiplier))
  })
  const rounding = roundedUp(sum, multiplier) * microDivisor - sum * multiplier
  return { lines, rounding: decimal(rounding, exactDigits) }
}

/** Receives the parts of a sum: `quantity` of an item, at a rate for each `per` of it. */
export type Add = (item: string, quantity: number, per: number, rate: bigint) => void

function lineOf(item: string, quantity: number, per: number, rate: bigint, multiplier: bigint): ChargeLine {
  return {
    item,
    quantity,
    per,
    price: decimal(rate * multiplier, rateDigits + multiplierDigits),
    amount: decimal(product(quantity, per, rate) * multiplier, exactDigits),
  }
}
