import { addressOf } from '../../endpoints/aliases.ts'
import { contentAddressOf } from '../../endpoints/gemini/address.ts'
import { redirected, type Exchange } from '../../http/exchange.ts'
import type { GatewayOptions } from '../options/options.ts'

/** The request under the path that the routes know, with the model named by its own path or by the options. */
export function addressed(
  exchange: Exchange,
  { azure, defaultModel }: Pick<GatewayOptions, 'azure' | 'defaultModel'>,
): Exchange {
  const address = (azure === true ? addressOf(exchange.target) : undefined) ?? contentAddressOf(exchange.target)
  if (address === undefined && defaultModel === undefined) return exchange
  const { target = exchange.target, model } = address ?? {}
  return redirected(exchange, target, {
    fixed: model === undefined ? {} : { model },
    defaults: defaultModel === undefined ? {} : { model: defaultModel },
  })
}
