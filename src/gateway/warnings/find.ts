import type { Model } from '../../models/contract.ts'
import type { ConfigWarning } from '../../records/warning.ts'
import { isRegistry, type GatewayOptions } from '../options/options.ts'
import { callerWarnings } from './callers.ts'
import { moneyWarnings } from './money.ts'
import { priceWarnings } from './prices.ts'

/** What is probably a mistake in valid options. `models`: those of the options, with wildcards. */
export function warningsIn(options: GatewayOptions, models: readonly Model[]): readonly ConfigWarning[] {
  return [
    ...modelWarnings(options, models),
    ...callerWarnings(options),
    ...moneyWarnings(options),
    ...priceWarnings(options, models),
  ]
}

function modelWarnings({ models, endpoints = [], ownKeys }: GatewayOptions, all: readonly Model[]): ConfigWarning[] {
  if (isRegistry(models)) return []
  if (all.length === 0 && endpoints.length === 0) {
    const message = "is empty, so nothing is served. Add a model, such as 'gpt-5': openai({ apiKey })."
    return [{ code: 'no_models', where: 'models', message }]
  }
  const places = new Map(
    all.flatMap(({ id, deployments }) => deployments.map(({ provider }) => [provider, id] as const)).toReversed(),
  )
  return [...places].flatMap(([{ name, warnings = [] }, id]) =>
    warnings
      .filter(({ code }) => code !== 'no_vendor_key' || ownKeys === undefined)
      .map(({ code, message }) => ({ code, where: `models["${id}"]`, message: `the provider "${name}" ${message}` })),
  )
}
