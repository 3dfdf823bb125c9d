/** Models of administration, as entries like those of the options. */
import type { Provider } from '../../providers/contract.ts'
import type { ModelEntries, ModelOptions } from '../model-options.ts'
import type { RouteEntry } from '../route-entry.ts'
import type { StoredDeployment, StoredModel } from './documents.ts'

/** Providers by the names that stored deployments use. */
export type NamedProviders = Readonly<Record<string, Provider>>

/** A stored model, and since when there is one. */
export interface KnownModel extends StoredModel {
  /** Milliseconds since the epoch. */
  readonly createdAt?: number
}

/**
 * The models that are served. Deployments that are disabled, or that name a model without any that is not, are left out, and so
 * are models without others. `faulty` gets each model that cannot be served, and why.
 */
export function servedEntries(
  models: ReadonlyMap<string, KnownModel>,
  own: ModelEntries,
  providers: NamedProviders,
  faulty: (id: string, fault: string) => void,
): Map<string, ModelOptions> {
  const enabled = new Map([...models].filter(([id, { disabled }]) => disabled !== true && !Object.hasOwn(own, id)))
  const isServed = ({ disabled, model }: StoredDeployment) =>
    disabled !== true && (model === undefined || enabled.has(model) || !models.has(model) || Object.hasOwn(own, model))
  for (let before = -1; before !== enabled.size;) {
    before = enabled.size
    for (const [id, { deployments }] of enabled) if (!deployments.some(isServed)) enabled.delete(id)
  }
  const served = new Map<string, ModelOptions>()
  for (const [id, model] of enabled) {
    try {
      served.set(id, optionsOfStored(id, model, providers, isServed))
    } catch (error) {
      faulty(id, (error as Error).message)
    }
  }
  return served
}

function optionsOfStored(
  id: string,
  { deployments, disabled: _disabled, note: _note, createdAt, ...properties }: KnownModel,
  providers: NamedProviders,
  isServed: (deployment: StoredDeployment) => boolean,
): ModelOptions {
  const created = createdAt === undefined ? {} : { created: Math.floor(createdAt / 1_000) }
  const [first] = deployments
  if (id.endsWith('*')) {
    if (deployments.length !== 1 || first?.provider === undefined) {
      throw new TypeError('deployments: a model whose id ends in "*" has exactly one, with a provider')
    }
    const { provider, providerModel, cost } = first
    const named = { ...(providerModel !== undefined && { providerModel }), ...(cost !== undefined && { cost }) }
    return { ...properties, ...created, ...named, provider: providerNamed(provider, providers) }
  }
  const route = deployments.flatMap((each, index): RouteEntry[] => {
    if (!isServed(each)) return []
    const { provider, providerModel, cost, model, disabled: _off, ...step } = each
    const order = step.order ?? index
    if (provider === undefined) return [{ ...step, order, model: model ?? '' }]
    const named = { ...(providerModel !== undefined && { providerModel }), ...(cost !== undefined && { cost }) }
    return [{ ...step, order, ...named, provider: providerNamed(provider, providers) }]
  })
  return { ...properties, ...created, route }
}

function providerNamed(name: string, providers: NamedProviders): Provider {
  const provider = Object.hasOwn(providers, name) ? providers[name] : undefined
  if (provider !== undefined) return provider
  const known = Object.keys(providers).join(', ')
  throw new TypeError(`deployments: "${name}" is not in "registry.providers" of the options, which has: ${known}`)
}
