/** Arithmetic on price lists. */
import type { PriceOptions, TokenPrices } from '../../src/money/prices/price-options.ts'
import { seeded } from '../../src/testing/random.ts'
import { lists } from './published.ts'

type Part = readonly [quantity: number, price: string | undefined, factor?: number]

/** The sum of what was used, in the form of `Published.sum`. */
export function sumOf(parts: readonly Part[]): string {
  return parts
    .filter(([quantity]) => quantity > 0)
    .map(([quantity, price = 'none', factor = 1]) => `${quantity}*${factor === 1 ? price : scaled(price, factor)}`)
    .join(' + ')
}

/** A rate times a factor of a tier: at most nine decimal places, in which both are exact. */
function scaled(price: string, factor: number): string {
  return String(Number((Number(price) * factor).toFixed(9)))
}

/** Dollars a call, in millionths of a dollar. */
export const call = (price: string | undefined): string => String(Math.round(Number(price) * 1e6))

const random = seeded(31)

/** A number of tokens with that many digits. */
export function some(digits: number): number {
  return Math.floor(10 ** (digits - 1) * (1 + 9 * random()))
}

export const priceOf = (model: string): PriceOptions => (lists[model] as { price: PriceOptions }).price

/** Every combination of one value each. */
export function* combinations<const Axes extends Readonly<Record<string, readonly unknown[]>>>(
  axes: Axes,
): Generator<{ [Name in keyof Axes]: Axes[Name][number] }> {
  const [name, ...others] = Object.keys(axes)
  if (name === undefined) return void (yield {} as never)
  for (const rest of combinations(Object.fromEntries(others.map((each) => [each, axes[each] as unknown[]])))) {
    for (const value of axes[name] as readonly unknown[]) yield { ...rest, [name]: value } as never
  }
}

/** What a prompt of this length costs: Anthropic, Google, OpenAI and Alibaba charge all of it at the rates of its length. */
export function ratesFor({ longPrompts = [], ...usual }: PriceOptions, prompt: number): TokenPrices {
  const reached = longPrompts.filter(({ above }) => prompt > above)
  return reached.reduce<TokenPrices>((rates, longer) => ({ ...rates, ...longer }), usual)
}
