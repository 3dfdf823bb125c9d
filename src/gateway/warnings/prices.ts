import type { Model } from '../../models/contract.ts'
import type { Price } from '../../money/prices/price.ts'
import type { TokenPart } from '../../money/prices/price-options.ts'
import type { ConfigWarning } from '../../records/warning.ts'
import { isRegistry, type GatewayOptions } from '../options/options.ts'

const parts: readonly TokenPart[] = ['input', 'output', 'cached', 'cacheWrite', 'reasoning']

/** In any currency less than this for a million tokens is the price of one token. The cheapest models cost 0.01. */
const leastForMillion = 0.001

/** Prices that are probably of another unit, and those of a table that no model uses. */
export function priceWarnings({ models, prices }: GatewayOptions, all: readonly Model[]): ConfigWarning[] {
  if (isRegistry(models)) return []
  const own = all.flatMap(({ id, price, deployments }) => {
    const given = price ?? deployments.find((each) => each.price !== undefined)?.price
    return given === undefined ? [] : perToken(`models["${id}"].price`, given)
  })
  const deployed = all.flatMap(({ deployments }) => deployments)
  const named = deployed.map(({ provider, model, open }) => ({
    provider: provider.name,
    model: open === true ? undefined : model,
  }))
  return [...own, ...(prices?.warnings?.(named) ?? [])]
}

function perToken(where: string, { options }: Price): ConfigWarning[] {
  const part = parts.find((name) => Number(options[name] ?? 0) > 0 && Number(options[name]) < leastForMillion)
  if (part === undefined) return []
  const message = `"${part}" is '${options[part]}' for a million tokens, which reads like the price of one token. Multiply it by 1,000,000.`
  return [{ code: 'price_per_token', where, message }]
}
