/** In which order the deployments of a model are tried. */
import type { Deployment } from '../models/contract.ts'

/** Ascending order; inside one order drawn without replacement, each with the chance its weight gives it. */
export function plan(deployments: readonly Deployment[], random: () => number): readonly Deployment[] {
  if (deployments.length < 2) return deployments
  const keyed = deployments.map((deployment) => ({
    deployment,
    // Efraimidis and Spirakis: sorting by u^(1/w) draws by weight.
    key: deployment.weight > 0 ? Math.pow(random(), 1 / deployment.weight) : -1,
  }))
  keyed.sort((left, right) => left.deployment.order - right.deployment.order || right.key - left.key)
  return keyed.map(({ deployment }) => deployment)
}
