import type { Deployment } from '../models/contract.ts'
import { drawsFor } from './affinity.ts'

/**
 * The deployments of a model in the order of attempts, those for certain failures last: by `order`, then in proportion to `weight`: the same ones for all
 * requests of one conversation, at random without one.
 */
export function attemptOrder(
  deployments: readonly Deployment[],
  random: () => number,
  conversation?: string,
): readonly Deployment[] {
  if (deployments.length < 2) return deployments
  const draw = conversation === undefined ? random : drawsFor(conversation)
  const seen = new Map<string, number>()
  const keyed = deployments.map((deployment) => {
    const { provider, model, weight } = deployment
    // Several deployments may be equal but for their keys.
    const name = `${provider.name} ${model}`
    const nth = seen.get(name) ?? 0
    seen.set(name, nth + 1)
    // Efraimidis and Spirakis: sorting by u^(1/w) draws by weight.
    return { deployment, key: weight > 0 ? Math.pow(draw(deployment, nth), 1 / weight) : -1 }
  })
  keyed.sort((left, right) => byOrder(left.deployment, right.deployment) || right.key - left.key)
  return keyed.map(({ deployment }) => deployment)
}

/** Those for certain failures last, and otherwise by `order`. */
export function byOrder(left: Deployment, right: Deployment): number {
  return Number(left.when !== undefined) - Number(right.when !== undefined) || left.order - right.order
}

/** A deployment that is not tried in its turn. `reason`: its breaker is open, or the request seems too long for it. */
export interface PassedOver {
  readonly deployment: Deployment
  readonly reason: 'breaker' | 'context'
}

const none: readonly never[] = []

/** The deployments of an order that come before the one that is tried first. */
export function passedOver(
  order: readonly Deployment[],
  first: Deployment | undefined,
  { promptTokens }: { readonly promptTokens: number },
): readonly PassedOver[] {
  if (first === order[0] || first === undefined) return none
  return order.slice(0, order.indexOf(first)).map((deployment) => {
    const { contextWindow = Infinity } = deployment
    return { deployment, reason: promptTokens <= contextWindow ? 'breaker' : 'context' }
  })
}

/** Deployments whose context window seems large enough come first. An estimate refuses nothing. */
export function fittingFirst(
  deployments: readonly Deployment[],
  order: { readonly promptTokens: number },
): readonly Deployment[] {
  const { promptTokens } = order
  const fits = ({ contextWindow = Infinity }: Deployment) => promptTokens <= contextWindow
  if (deployments.every(fits)) return deployments
  return [...deployments.filter(fits), ...deployments.filter((each) => !fits(each))]
}
