import type { Price } from '../money/prices/price.ts'
import type { Model } from './contract.ts'

/** The price of a model, or that of all its deployments; undefined if they differ. */
export function onlyPrice({ price, deployments: [first, ...others] }: Model): Price | undefined {
  return price ?? (others.every((each) => each.price === first?.price) ? first?.price : undefined)
}
