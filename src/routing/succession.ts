import type { Deployment } from '../models/contract.ts'
import { servesAfter } from './attempts.ts'

/** Which deployment goes on with a stream that has broken off: each that was not tried, at last the one before once more. */
export class Succession {
  readonly #candidates: readonly Deployment[]
  readonly #tried = new Set<Deployment>()
  #last: Deployment | undefined
  #isOver = false

  constructor(candidates: readonly Deployment[]) {
    this.#candidates = candidates
  }

  /** The deployment was asked. */
  tried(deployment: Deployment): void {
    this.#tried.add(deployment)
    this.#last = deployment
  }

  /** The deployment to ask next; undefined if there is none. */
  next(): Deployment | undefined {
    const next = this.#candidates.find((each) => !this.#tried.has(each) && servesAfter('unavailable', each, undefined))
    if (next === undefined && this.#isOver) return undefined
    this.#isOver = next === undefined
    if (next !== undefined) this.tried(next)
    return this.#last
  }
}
