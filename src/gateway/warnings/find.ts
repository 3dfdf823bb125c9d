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

function modelWarnings(
  { models, registry, endpoints = [], ownKeys }: GatewayOptions,
  all: readonly Model[],
): ConfigWarning[] {
  if (isRegistry(models)) return []
  if (all.length === 0 && endpoints.length === 0 && registry === undefined) {
    const message = "is empty, so nothing is served. Add a model, such as 'gpt-5': openai({ apiKey })."
    return [{ code: 'no_models', where: 'models', message }]
  }
  const named = Object.entries(registry?.providers ?? {})
  const places = new Map([
    ...named.map(([name, provider]) => [provider, `registry.providers.${name}`] as const),
    ...all
      .flatMap(({ id, deployments }) => deployments.map(({ provider }) => [provider, `models["${id}"]`] as const))
      .toReversed(),
  ])
  return [...places].flatMap(([{ name, warnings = [] }, where]) =>
    warnings
      .filter(({ code }) => code !== 'no_vendor_key' || ownKeys === undefined)
      .map(({ code, message }) => ({ code, where, message: `the provider "${name}" ${message}` })),
  )
}
