/** Prices that a group has of its own. */
import { Price } from '../money/prices/price.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import type { Model } from './contract.ts'

/** Prices by the names of models, which may end in `*`. */
export type GroupPrices = Readonly<Record<string, PriceOptions>>

/** Throws a `TypeError` that names the model and the invalid field. */
export function parseGroupPrices(prices: GroupPrices): void {
  if (typeof prices !== 'object' || prices === null || Array.isArray(prices)) {
    throw new TypeError("must map names of models to prices, such as { 'gpt-5': { input: '1', output: '8' } }")
  }
  for (const [name, options] of Object.entries(prices)) priceOf(name, options)
}

function priceOf(name: string, options: PriceOptions): Price {
  try {
    return new Price(options)
  } catch (error) {
    throw new TypeError(`"${name}": ${(error as Error).message}`, { cause: error })
  }
}

const parsed = new WeakMap<PriceOptions, Price>()
const made = new WeakMap<Model, WeakMap<PriceOptions, Model>>()

/** The model at the price of a group, if it has one of its own: that of the longest name, which may end in `*`. */
export function withGroupPrice(model: Model, { prices }: { readonly prices?: GroupPrices }): Model {
  const found = prices && nameFor(model.id, prices)
  if (found === undefined) return model
  const options = prices?.[found] as PriceOptions
  let known = made.get(model)
  if (known === undefined) made.set(model, (known = new WeakMap()))
  let priced = known.get(options)
  if (priced === undefined) {
    let price = parsed.get(options)
    if (price === undefined) parsed.set(options, (price = priceOf(found, options)))
    known.set(options, (priced = { ...model, price }))
  }
  return priced
}

function nameFor(id: string, prices: GroupPrices): string | undefined {
  if (Object.hasOwn(prices, id)) return id
  const matching = Object.keys(prices).filter((name) => name.endsWith('*') && id.startsWith(name.slice(0, -1)))
  return matching.sort((left, right) => right.length - left.length)[0]
}
