import type { Deployment, Model } from '../../models/contract.ts'
import type { DeploymentHealth } from '../../observe/health.ts'
import type { Breaker } from '../../routing/breaker.ts'

/** The deployments of the models in the options, with the state of their breakers. */
export class KnownDeployments {
  readonly #breaker: Breaker
  readonly #known: readonly { readonly model: string; readonly deployment: Deployment }[]
  /** While all breakers are closed. */
  readonly #closed: readonly DeploymentHealth[]

  constructor(models: readonly Model[], breaker: Breaker) {
    this.#breaker = breaker
    this.#known = models.flatMap(({ id, deployments }) => deployments.map((deployment) => ({ model: id, deployment })))
    this.#closed = this.#known.map(({ model, deployment }) => healthOfOne(model, deployment, 'closed'))
  }

  get health(): readonly DeploymentHealth[] {
    const { open } = this.#breaker
    if (open.length === 0) return this.#closed
    const known = this.#known.map(({ model, deployment }) =>
      healthOfOne(model, deployment, this.#breaker.stateOf(deployment)),
    )
    const names = new Set(known.map(nameOf))
    const others = open.map(({ provider, model: providerModel, state }) => ({ provider, providerModel, state }))
    return [...known, ...others.filter((each) => !names.has(nameOf(each)))]
  }
}

function healthOfOne(model: string, deployment: Deployment, state: DeploymentHealth['state']): DeploymentHealth {
  return { model, provider: deployment.provider.name, providerModel: deployment.model, state }
}

function nameOf({ provider, providerModel }: DeploymentHealth): string {
  return JSON.stringify([provider, providerModel])
}
