import { refillMs, type Measured } from './headers.ts'
import type { LimitVerdict } from './contract.ts'

const maxBuckets = 10_000

interface Drained {
  readonly until: number
  readonly waitMs: number
}

/**
 * Limits that this process knows to be reached without asking the store, so that a request over its limit is rejected
 * before its body is read. Remembers until when a bucket is empty, and how many places this process has taken. Other
 * processes can only use more, so a request that the store would admit is never rejected here.
 */
export class ReachedLimits {
  readonly #now: () => number
  readonly #drained = new Map<string, Drained>()
  readonly #places = new Map<string, number>()

  /** `now` returns milliseconds; only differences matter. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Milliseconds for which this bucket is known to be empty; 0 if that is unknown. */
  waitMs(bucket: string): number {
    const drained = this.#drained.get(bucket)
    if (drained === undefined) return 0
    const wait = drained.until - this.#now()
    // If the clock was set back, the computed wait is too long.
    return wait > drained.waitMs ? 0 : Math.max(0, wait)
  }

  /** The time of a question to the store, for `learn`. */
  asks(): number {
    return this.#now()
  }

  /** `askedAt`: when the store was asked. Its answer may be late, and the bucket has filled up since. */
  learn(rates: readonly Measured[], verdict: LimitVerdict, askedAt: number): void {
    for (let at = 0; at < rates.length; at++) {
      const { measure, rule } = rates[at] as Measured
      const left = verdict.left[at] ?? 0
      // Drawn tokens can be given back at any time, so an empty bucket of tokens says nothing about the next moment.
      if (measure !== 'requests' || left >= 1) continue
      const waitMs = refillMs(rule, 1 - left)
      // The store knows what is forgotten here.
      if (this.#drained.size >= maxBuckets) this.#drained.clear()
      this.#drained.set(rule.bucket, { until: askedAt + waitMs, waitMs })
    }
  }

  /** Takes a place. Returns false if this process alone already holds all of them. */
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
