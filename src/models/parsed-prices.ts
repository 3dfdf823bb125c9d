import { Price } from '../money/prices/price.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import type { Model, RegistryModel } from './contract.ts'

const read = new WeakMap<RegistryModel, Model>()

/**
 * A registry's model with parsed prices; the same object if they are already parsed. Throws a `TypeError` that names the
 * model and the invalid field.
 */
export function withParsedPrices(model: RegistryModel): Model {
  const { price, deployments } = model
  if (isRead(price) && deployments.every((each) => isRead(each.price))) return model as Model
  let known = read.get(model)
  if (known === undefined) {
    known = {
      ...model,
      ...(price && { price: priceOf(model, price) }),
      deployments: deployments.map((each) => ({ ...each, ...(each.price && { price: priceOf(model, each.price) }) })),
    } as Model
    read.set(model, known)
  }
  return known
}

function isRead(price: Price | PriceOptions | undefined): price is Price | undefined {
  return price === undefined || price instanceof Price
}

function priceOf({ id }: RegistryModel, price: Price | PriceOptions): Price {
  if (price instanceof Price) return price
  try {
    return new Price(price)
  } catch (error) {
    throw new TypeError(`the model "${id}" of the registry: ${(error as Error).message}`, { cause: error })
  }
}
