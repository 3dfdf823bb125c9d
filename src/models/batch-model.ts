import { batchPrice } from '../money/prices/batch-price.ts'
import type { Deployment, Model } from './contract.ts'

type Made = WeakMap<Model, Model>

const ofMessages: Made = new WeakMap()
const ofFiles = new Map<string, Made>()

/** The model at the price of requests in batches, with the deployments whose vendors have batches of messages. */
export function inBatches(model: Model): Model {
  return batched(model, ofMessages, ({ provider }) => provider.batches !== undefined)
}

/** The same with the deployments whose vendors have batches of files, of an endpoint such as `/v1/chat/completions`. */
export function inFileBatches(model: Model, endpoint: string): Model {
  let made = ofFiles.get(endpoint)
  if (made === undefined) ofFiles.set(endpoint, (made = new WeakMap()))
  return batched(model, made, ({ provider }) => provider.fileBatches?.endpoints.includes(endpoint) === true)
}

function batched(model: Model, made: Made, has: (deployment: Deployment) => boolean): Model {
  let known = made.get(model)
  if (known === undefined) {
    const { price, deployments } = model
    const usable = deployments.filter(has)
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
