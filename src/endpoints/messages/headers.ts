/** The headers of Anthropic's API, which belong to the body: a feature that is used in one is enabled in the other. */
import { header, type Exchange } from '../../http/exchange.ts'
import type { Model } from '../../models/contract.ts'
import { allows } from '../../models/cost-guard.ts'
import { guardedBetas, longContext } from '../../providers/costs/betas.ts'

type Headers = Readonly<Record<string, string>>

const prefix = 'anthropic-'
const betaHeader = 'anthropic-beta'
const isPrintable = /^[\t\x20-\x7e]*$/

/** The client's headers that the vendor gets as they came; undefined if there are none. */
export function headersOf(exchange: Exchange): Headers | undefined {
  let headers: Record<string, string> | undefined
  for (const name in exchange.headers) {
    if (!name.startsWith(prefix)) continue
    const value = header(exchange, name)
    if (value !== undefined && isPrintable.test(value)) (headers ??= {})[name] = value
  }
  return headers
}

/**
 * The headers without beta features that change the cost, or give access to the host's account, unless the model's options
 * allow them. `omitted` is called with each feature that is left out.
 */
export function withoutCosts(headers: Headers, model: Model, omitted: (name: string) => void): Headers {
  const betas = headers[betaHeader]
  if (betas === undefined) return headers
  const features = betas.split(',').map((each) => each.trim())
  const kept = features.filter((feature) => isAllowed(feature, model))
  if (kept.length === features.length) return headers
  for (const feature of features) if (!kept.includes(feature)) omitted(feature)
  const { [betaHeader]: _, ...rest } = headers
  return kept.length === 0 ? rest : { ...rest, [betaHeader]: kept.join(',') }
}

function isAllowed(feature: string, model: Model): boolean {
  const guarded = guardedBetas.find(([start]) => feature.toLowerCase().startsWith(start))
  if (guarded === undefined) return true
  const [, name] = guarded
  // A host that states a longer window than the usual one offers it.
  if (name === longContext && (model.contextWindow ?? 0) > 200_000) return true
  return allows(model, name)
}
