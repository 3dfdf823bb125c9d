/** The names of a vendor's service tiers, and their prices. */
import { tieredFields, type PriceOptions, type TieredTokenPrices } from './price-options.ts'
import { multiplierOne, parseFactor } from './rate.ts'
import type { Add } from './sum.ts'
import { TokenRates } from './token-rates.ts'

/** Names of the tier that has the normal price, among all vendors. */
const normal = new Set(['', 'auto', 'default', 'standard', 'standard_only', 'on_demand', 'global'])

/** The name of a tier as prices use it: lower case, `default` for the normal one. */
export function tierName(given: unknown): string {
  if (typeof given !== 'string' || normal.has(given)) return 'default'
  const name = given.toLowerCase().replaceAll('-', '_')
  return normal.has(name) ? 'default' : name
}

/** The prices of one service tier. */
export class TierPrice {
  /** The factor on everything that is not a token, scaled by `multiplierOne`. */
  readonly factor: bigint
  /** From the longest prompt to the shortest. */
  readonly #lengths: readonly { readonly above: number; readonly rates: TokenRates }[]

  /** Throws a `TypeError` that names the invalid field. */
  constructor(prices: TieredTokenPrices, factor: bigint = multiplierOne, place: string = '') {
    this.factor = factor
    const { longPrompts = [], ...short } = prices
    const lengths = longPrompts.map(({ above, ...long }, index) => ({
      above,
      rates: new TokenRates({ ...short, ...long }, factor, `${place}longPrompts[${index}].`),
    }))
    lengths.sort((left, right) => right.above - left.above)
    this.#lengths = [...lengths, { above: -1, rates: new TokenRates(short, factor, place) }]
  }

  /** The rates for a prompt of so many tokens. */
  rates(promptTokens: number): TokenRates {
    const lengths = this.#lengths
    let index = 0
    while (index < lengths.length - 1 && !(promptTokens > (lengths[index]?.above ?? 0))) index++
    return lengths[index]?.rates as TokenRates
  }

  /** Adds what at most so many tokens cost at most, whatever their kinds. */
  bound(promptTokens: number, outputTokens: number, add: Add): void {
    let highest = -1n
    let found: TokenRates | undefined
    for (const { above, rates } of this.#lengths) {
      if (above >= promptTokens && above >= 0) continue
      const sum = BigInt(promptTokens) * rates.highestInput + BigInt(outputTokens) * rates.highestOutput
      if (sum <= highest) continue
      highest = sum
      found = rates
    }
    if (promptTokens > 0) add('input', promptTokens, 1_000_000, found?.highestInput ?? 0n)
    if (outputTokens > 0) add('output', outputTokens, 1_000_000, found?.highestOutput ?? 0n)
  }

  /** All rates that a prompt of at most so many tokens can have. */
  reachable(promptTokens: number): TokenRates[] {
    return this.#lengths.filter(({ above }) => promptTokens > above).map(({ rates }) => rates)
  }
}

/** The prices of all tiers by name, the normal one as `default`. */
export function tierPrices({ serviceTiers = {}, ...price }: PriceOptions): Map<string, TierPrice> {
  const tiers = new Map([['default', new TierPrice(tokensOf(price))]])
  for (const [given, tier] of Object.entries(serviceTiers)) {
    const name = tierName(given)
    const place = `serviceTiers["${given}"]`
    if (name === 'default') throw new TypeError(`price.${place}: this is the normal tier, whose price is outside`)
    const made =
      typeof tier === 'string'
        ? new TierPrice(tokensOf(price), parseFactor(tier, `price.${place}`))
        : new TierPrice({ ...tokensOf(price), ...tier }, multiplierOne, `${place}.`)
    tiers.set(name, made)
  }
  return tiers
}

/** The part of a price that concerns tokens. */
function tokensOf(price: PriceOptions): TieredTokenPrices {
  return Object.fromEntries(Object.entries(price).filter(([name]) => Object.hasOwn(tieredFields, name)))
}
