import type { Deployment } from '../models/contract.ts'

/** The deployments of a model in the order of attempts: by `order`, then at random in proportion to `weight`. */
export function attemptOrder(deployments: readonly Deployment[], random: () => number): readonly Deployment[] {
  if (deployments.length < 2) return deployments
  const keyed = deployments.map((deployment) => ({
    deployment,
    // Efraimidis and Spirakis: sorting by u^(1/w) draws by weight.
    key: deployment.weight > 0 ? Math.pow(random(), 1 / deployment.weight) : -1,
  }))
  keyed.sort((left, right) => left.deployment.order - right.deployment.order || right.key - left.key)
  return keyed.map(({ deployment }) => deployment)
}
