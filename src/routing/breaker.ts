import type { Deployment } from '../models/contract.ts'
import type { BreakerChange } from '../observe/gateway-state.ts'
import { ByDeployment } from './by-deployment.ts'

/** When a failing deployment is skipped. */
export interface BreakerOptions {
  /** Consecutive failures that open the breaker. Default 5. */
  readonly failures?: number
  /** Milliseconds for which the deployment is then skipped; afterwards one request tries it. Default 10,000. */
  readonly coolDownMs?: number
}

/** Providers of callers with keys of their own come and go, so the number of those that are reported must be bounded. */
const mostOpen = 1_000

/** Does not refer to the provider, which may be gone. */
interface Health extends Omit<BreakerChange, 'state'> {
  failures: number
  openUntil: number
  /** Whether a request tries the deployment although the breaker is open. */
  trying: boolean
}

/** Skips a deployment for some time after several consecutive failures. */
export class Breaker {
  readonly #failures: number
  readonly #coolDownMs: number
  readonly #now: () => number
  readonly #changed: (change: BreakerChange) => void
  /** Those that are not closed. */
  readonly #open = new Set<Health>()
  readonly #health = new ByDeployment<Health>((health) => this.#open.delete(health))

  /** `changed` is called when the breaker of a deployment opens, is tried, or closes. */
  constructor(options: BreakerOptions, now: () => number, changed: (change: BreakerChange) => void = () => undefined) {
    this.#changed = changed
    this.#failures = options.failures ?? 5
    this.#coolDownMs = options.coolDownMs ?? 10_000
    this.#now = now
  }

  /** The deployments whose breaker is closed; all of them if none is, so that the client gets the vendor's actual error. */
  usable(deployments: readonly Deployment[]): readonly Deployment[] {
    if (deployments.length < 2) return deployments
    const now = this.#now()
    const closed = deployments.filter((deployment) => (this.#health.find(deployment)?.openUntil ?? 0) <= now)
    return closed.length === 0 ? deployments : closed
  }

  /** The deployments whose breaker is not closed: of very many, those that have failed last. */
  get open(): readonly BreakerChange[] {
    return [...this.#open].map((health) => changeOf(health))
  }

  stateOf(deployment: Deployment): BreakerChange['state'] {
    const health = this.#health.find(deployment)
    return health === undefined ? 'closed' : changeOf(health).state
  }

  /** Records the start of an attempt. While one request tries an open breaker, other requests still skip it. */
  trying(deployment: Deployment): void {
    const health = this.#health.find(deployment)
    if (health === undefined || health.openUntil === 0) return
    health.openUntil = this.#now() + this.#coolDownMs
    if (health.trying) return
    health.trying = true
    this.#changed(changeOf(health))
  }

  succeeded(deployment: Deployment): void {
    const health = this.#health.find(deployment)
    if (health === undefined || health.failures === 0) return
    const wasOpen = health.openUntil > 0
    health.failures = health.openUntil = 0
    health.trying = false
    this.#open.delete(health)
    if (wasOpen) this.#changed(changeOf(health))
  }

  failed(deployment: Deployment): void {
    const health = this.#health.of(deployment, () => healthOf(deployment))
    health.failures++
    if (health.failures < this.#failures) return
    const wasOpen = health.openUntil > 0 && !health.trying
    health.openUntil = this.#now() + this.#coolDownMs
    health.trying = false
    this.#open.delete(health)
    this.#open.add(health)
    const [first] = this.#open
    if (first !== undefined && this.#open.size > mostOpen) this.#open.delete(first)
    if (!wasOpen) this.#changed(changeOf(health))
  }
}

function healthOf({ provider, model, open = false }: Deployment): Health {
  return { provider: provider.name, model, openModel: open, failures: 0, openUntil: 0, trying: false }
}

function changeOf({ provider, model, openModel, openUntil, trying }: Health): BreakerChange {
  return { provider, model, openModel, state: openUntil === 0 ? 'closed' : trying ? 'half-open' : 'open' }
}
