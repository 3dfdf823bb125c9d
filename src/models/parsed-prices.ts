import { parseCost, type Cost, type CostOptions } from '../money/prices/cost.ts'
import { Price } from '../money/prices/price.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import type { Deployment, Model, RegistryDeployment, RegistryModel } from './contract.ts'

const read = new WeakMap<RegistryModel, Model>()

/**
 * A registry's model with parsed prices; the same object if they are already parsed. Throws a `TypeError` that names the
 * model and the invalid field.
 */
export function withParsedPrices(model: RegistryModel): Model {
  const { price, deployments } = model
  if (isRead(price) && deployments.every((each) => isRead(each.price) && isCost(each.cost))) return model as Model
  let known = read.get(model)
  if (known === undefined) {
    known = {
      ...model,
      ...(price && { price: priceOf(model, price) }),
      deployments: deployments.map((each) => deploymentOf(model, each)),
    } as Model
    read.set(model, known)
  }
  return known
}

function deploymentOf(model: RegistryModel, { price, cost, ...rest }: RegistryDeployment): Deployment {
  return {
    ...rest,
    ...(price && { price: priceOf(model, price) }),
    ...(cost && { cost: isCost(cost) ? cost : named(model, () => parseCost(cost)) }),
  }
}

function isRead(price: Price | PriceOptions | undefined): price is Price | undefined {
  return price === undefined || price instanceof Price
}

function isCost(cost: Cost | CostOptions | undefined): cost is Cost | undefined {
  return cost === undefined || typeof cost.multiplier === 'bigint'
}

function priceOf(model: RegistryModel, price: Price | PriceOptions): Price {
  return price instanceof Price ? price : named(model, () => new Price(price))
}

function named<T>({ id }: RegistryModel, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new TypeError(`the model "${id}" of the registry: ${(error as Error).message}`, { cause: error })
  }
}
