/**
 * What this process knows of limits without asking the store, so that a caller who is over them is refused before the
 * body is read: until when a bucket cannot have anything left, and how many of a scope's places are taken here. Both are
 * bounds: other processes can only make it worse, so nobody is refused whom the store would admit.
 */
import { LRUCache } from 'lru-cache'
import { lazily } from '../lazily.ts'
import { refillMs, type Measured } from './headers.ts'
import type { LimitVerdict } from './contract.ts'

/** Buckets remembered at most. */
const most = 10_000

interface Drained {
  readonly until: number
  readonly waitMs: number
}

export class Known {
  readonly #now: () => number
  readonly #drained = lazily(() => new LRUCache<string, Drained>({ max: most }))
  readonly #places = new Map<string, number>()

  /** `now` in milliseconds; only differences count. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Milliseconds for which this bucket of requests is known to be empty; 0 when that is not known. */
  waitMs(bucket: string): number {
    const drained = this.#drained().get(bucket)
    if (drained === undefined) return 0
    const wait = drained.until - this.#now()
    // A clock that was put back must not make a wait longer.
    return wait > drained.waitMs ? 0 : Math.max(0, wait)
  }

  learn(rates: readonly Measured[], verdict: LimitVerdict): void {
    rates.forEach(({ measure, rule }, index) => {
      const left = verdict.left[index] ?? 0
      // Tokens may be given back at any time; of requests, one that was drawn stays drawn.
      if (measure !== 'requests' || left >= 1) return
      const waitMs = refillMs(rule, 1 - left)
      this.#drained().set(rule.bucket, { until: this.#now() + waitMs, waitMs })
    })
  }

  /** Takes one of so many places. False when all are taken by this process alone. */
  enter(bucket: string, places: number): boolean {
    const taken = this.#places.get(bucket) ?? 0
    if (taken >= places) return false
    this.#places.set(bucket, taken + 1)
    return true
  }

  leave(bucket: string): void {
    const taken = this.#places.get(bucket) ?? 0
    if (taken > 1) this.#places.set(bucket, taken - 1)
    else this.#places.delete(bucket)
  }
}
