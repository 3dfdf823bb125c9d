import type { Price } from '../../money/prices/price.ts'
import type { Model } from '../contract.ts'

/** The prices of models, each from a moment on. */
export class DatedPrices {
  /** Latest first. */
  readonly #prices: ReadonlyMap<string, readonly DatedPrice[]>
  /** For each model the version with its latest price. */
  readonly #known = new WeakMap<Model, Model>()

  constructor(prices: readonly DatedPrice[]) {
    const latestFirst = prices.toSorted((left, right) => right.from - left.from)
    this.#prices = Map.groupBy(latestFirst, ({ model }) => model)
  }

  /** The model with its price as of `at`, if it has none of its own. */
  complete(model: Model, at: number): Model {
    if (model.price !== undefined) return model
    const price = this.#prices.get(model.id)?.find(({ from }) => from <= at)?.price
    if (price === undefined) return model
    const known = this.#known.get(model)
    if (known?.price === price) return known
    // A price of its own may not cover what the models of its route allow.
    const made = { ...model, price, allow: model.allow ?? [] }
    this.#known.set(model, made)
    return made
  }
}

/** A price of a model, and the time from which it applies. */
export interface DatedPrice {
  readonly model: string
  readonly from: number
  readonly price: Price
}
