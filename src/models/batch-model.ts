import { batchPrice } from '../money/prices/batch-price.ts'
import type { Deployment, Model } from './contract.ts'

const made = new WeakMap<Model, Model>()

/** The model at the price of requests in batches, with the deployments whose vendors have them. */
export function inBatches(model: Model): Model {
  let known = made.get(model)
  if (known === undefined) {
    const { price, deployments } = model
    const usable = deployments.filter(({ provider }) => provider.batches !== undefined)
    known = { ...model, ...(price && { price: batchPrice(price) }), deployments: usable.map(atBatchPrice) }
    made.set(model, known)
  }
  return known
}

function atBatchPrice({ price, cost, ...deployment }: Deployment): Deployment {
  return {
    ...deployment,
    ...(price && { price: batchPrice(price) }),
    ...(cost && { cost: { ...cost, price: cost.price && batchPrice(cost.price) } }),
  }
}
