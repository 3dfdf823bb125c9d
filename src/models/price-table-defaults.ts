import { atListPrice } from '../money/prices/cost.ts'
import type { ListedModel, PriceTable } from '../money/prices/price-table.ts'
import type { Deployment, Model } from './contract.ts'

/** Fills in what a price table knows of models. */
export class PriceTableDefaults {
  readonly #table: PriceTable
  /** For each model the version with the latest entries of the table, of which it is made again when they change. */
  readonly #known = new WeakMap<
    Model,
    { readonly listed: readonly (ListedModel | undefined)[]; readonly made: Model }
  >()

  constructor(table: PriceTable) {
    this.#table = table
  }

  /** The model with prices, costs and the context window of the table as of `at`, where it has none of its own. */
  complete(model: Model, at: number): Model {
    const { deployments } = model
    const listed = deployments.map(({ provider, model: named, price, cost }) => {
      const isPriced = (model.price ?? price) !== undefined && cost?.price !== undefined
      const isComplete = isPriced && model.contextWindow !== undefined
      return isComplete
        ? undefined
        : this.#table.find({ provider: provider.name, model: named, at, origin: provider.origin })
    })
    if (listed.every((each) => each === undefined)) return model
    const known = this.#known.get(model)
    if (known !== undefined && listed.every((each, index) => each === known.listed[index])) return known.made
    const made = filled(model, listed)
    this.#known.set(model, { listed, made })
    return made
  }
}

function filled(model: Model, listed: readonly (ListedModel | undefined)[]): Model {
  // The smallest window, because any of the deployments may serve the request.
  const windows = listed.flatMap((each) => each?.contextWindow ?? [])
  const contextWindow = model.contextWindow ?? (windows.length > 0 ? Math.min(...windows) : undefined)
  const priced = (deployment: Deployment, index: number): Deployment => {
    const price = model.price === undefined ? (deployment.price ?? listed[index]?.price) : deployment.price
    const cost = atListPrice(deployment.cost, listed[index]?.cost)
    return { ...deployment, ...(price && { price }), ...(cost && { cost }) }
  }
  return {
    ...model,
    ...(contextWindow !== undefined && { contextWindow }),
    deployments: model.deployments.map(priced),
  }
}
