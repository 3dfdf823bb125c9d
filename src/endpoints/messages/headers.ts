/** The headers of Anthropic's API, which belong to the body: a feature that is used in one is enabled in the other. */
import { header, type Exchange } from '../../http/exchange.ts'
import type { Model } from '../../models/contract.ts'
import { allows } from '../../models/cost-guard.ts'
import { betaName, betas, longContext } from '../../providers/costs/betas.ts'

type Headers = Readonly<Record<string, string>>

const betaHeader = 'anthropic-beta'
const isPrintable = /^[\t\x20-\x7e]*$/

/**
 * The client's headers that the vendor gets. No others: some select the workspace, the user or the payer within the host's
 * account, and streams can be read in one version of the API only.
 */
export const passedHeaders: readonly string[] = [betaHeader]

/** The headers to pass on; undefined if there are none. */
export function headersOf(exchange: Exchange): Headers | undefined {
  let headers: Record<string, string> | undefined
  for (const name of passedHeaders) {
    const value = header(exchange, name)
    if (value !== undefined && isPrintable.test(value)) (headers ??= {})[name] = value
  }
  return headers
}

/**
 * The headers without beta features that change the cost, give access to the host's account or are unknown, unless the model's options
 * allow them. `omitted` is called with each feature that is left out.
 */
export function withoutCosts(headers: Headers, model: Model, omitted: (name: string) => void): Headers {
  const listed = headers[betaHeader]
  if (listed === undefined) return headers
  const features = listed.split(',').map((each) => each.trim())
  const kept = features.filter((feature) => isAllowed(feature, model))
  if (kept.length === features.length) return headers
  for (const feature of features) if (!kept.includes(feature)) omitted(feature)
  const { [betaHeader]: _, ...rest } = headers
  return kept.length === 0 ? rest : { ...rest, [betaHeader]: kept.join(',') }
}

function isAllowed(feature: string, model: Model): boolean {
  const name = betaName(feature)
  const allow = betas.has(name) ? betas.get(name) : name
  if (allow === undefined) return true
  // A host that states a longer window than the usual one offers it.
  if (allow === longContext && (model.contextWindow ?? 0) > 200_000) return true
  return allows(model, allow)
}
