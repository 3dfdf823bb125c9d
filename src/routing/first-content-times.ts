import type { Deployment } from '../models/contract.ts'
import { ByDeployment } from './by-deployment.ts'

/** The weight of a new time, and of all earlier ones after a minute. */
const newest = 0.2
const halfLifeMs = 60_000
/** The times that a percentile is taken of, and the fewest that have one. */
const kept = 200
const fewest = 50

interface Times {
  meanMs: number
  at: number
  /** A ring of the latest times. */
  readonly latest: number[]
  next: number
}

/** How long deployments take until the first content of a stream, as this process has seen it. */
export class FirstContentTimes {
  readonly #now: () => number
  readonly #times = new ByDeployment<Times>()

  /** `now`: milliseconds, monotonic. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  add(deployment: Pick<Deployment, 'provider' | 'model'>, ms: number): void {
    const at = this.#now()
    const times = this.#times.of(deployment, () => ({ meanMs: ms, at, latest: [], next: 0 }))
    const weight = Math.max(newest, 1 - 0.5 ** ((at - times.at) / halfLifeMs))
    times.meanMs += weight * (ms - times.meanMs)
    times.at = at
    times.latest[times.next] = ms
    times.next = (times.next + 1) % kept
  }

  /** The mean, in which later times count more; undefined without one of the last five minutes, so that the deployment is tried. */
  meanMs(deployment: Deployment): number | undefined {
    const times = this.#times.find(deployment)
    return times === undefined || this.#now() - times.at > 5 * halfLifeMs ? undefined : times.meanMs
  }

  /** What 99 % of the latest streams took at most; undefined if too few are known. */
  p99Ms(deployment: Deployment): number | undefined {
    const { latest = [] } = this.#times.find(deployment) ?? {}
    if (latest.length < fewest) return undefined
    return latest.toSorted((left, right) => left - right)[Math.ceil(latest.length * 0.99) - 1]
  }
}
