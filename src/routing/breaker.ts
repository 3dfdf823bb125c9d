import type { Deployment } from '../models/contract.ts'

/** When a failing deployment is skipped. */
export interface BreakerOptions {
  /** Consecutive failures that open the breaker. Default 5. */
  readonly failures?: number
  /** Milliseconds for which the deployment is then skipped; afterwards one request tries it. Default 10,000. */
  readonly coolDownMs?: number
}

interface Health {
  failures: number
  openUntil: number
}

/** Skips a deployment for some time after several consecutive failures. */
export class Breaker {
  readonly #failures: number
  readonly #coolDownMs: number
  readonly #now: () => number
  readonly #health = new WeakMap<object, Map<string, Health>>()

  constructor(options: BreakerOptions, now: () => number) {
    this.#failures = options.failures ?? 5
    this.#coolDownMs = options.coolDownMs ?? 10_000
    this.#now = now
  }

  /** The deployments whose breaker is closed; all of them if none is, so that the client gets the vendor's actual error. */
  usable(deployments: readonly Deployment[]): readonly Deployment[] {
    if (deployments.length < 2) return deployments
    const now = this.#now()
    const closed = deployments.filter((deployment) => (this.#find(deployment)?.openUntil ?? 0) <= now)
    return closed.length === 0 ? deployments : closed
  }

  /** Records the start of an attempt. While one request tries an open breaker, other requests still skip it. */
  trying(deployment: Deployment): void {
    const health = this.#find(deployment)
    if (health !== undefined && health.openUntil > 0) health.openUntil = this.#now() + this.#coolDownMs
  }

  succeeded(deployment: Deployment): void {
    const health = this.#find(deployment)
    if (health !== undefined) health.failures = health.openUntil = 0
  }

  failed(deployment: Deployment): void {
    let models = this.#health.get(deployment.provider)
    if (models === undefined) this.#health.set(deployment.provider, (models = new Map()))
    let health = models.get(deployment.model)
    if (health === undefined) {
      // Clients choose the model names of an open deployment, so their number must be bounded.
      if (models.size >= 1_000) models.clear()
      models.set(deployment.model, (health = { failures: 0, openUntil: 0 }))
    }
    health.failures++
    if (health.failures >= this.#failures) health.openUntil = this.#now() + this.#coolDownMs
  }

  #find(deployment: Deployment): Health | undefined {
    return this.#health.get(deployment.provider)?.get(deployment.model)
  }
}
