/** Leaves a deployment alone for a while after it has failed several times in a row. */
import type { Deployment } from '../models/contract.ts'

export interface BreakerOptions {
  /** Failures in a row that open the breaker. Default 5. */
  readonly failures?: number
  /** Milliseconds for which the deployment is then passed over; afterwards one call may try it. Default 10,000. */
  readonly coolDownMs?: number
}

interface Health {
  failures: number
  openUntil: number
}

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

  /** The deployments worth trying now; all of them when none is, for the vendor's own answer beats our guess. */
  usable(deployments: readonly Deployment[]): readonly Deployment[] {
    if (deployments.length < 2) return deployments
    const now = this.#now()
    const closed = deployments.filter((deployment) => (this.#find(deployment)?.openUntil ?? 0) <= now)
    return closed.length === 0 ? deployments : closed
  }

  /** A call is about to be made. While an open breaker is tried by one call, the others still pass it over. */
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
      // Model names of an open deployment come from clients: their number must not grow without end.
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
