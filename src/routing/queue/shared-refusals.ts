/** The vendor's refusals in all processes: a bucket of the limit store, from which each refusal draws a unit. */
import { hash } from 'node:crypto'
import type { LimitStore, LimitVerdict, RateRule } from '../../money/limits/contract.ts'
import type { Guard } from '../../records/guard.ts'

/** Where processes tell each other of refusals. */
export interface RefusalCounts {
  readonly store: Pick<LimitStore, 'take'>
  readonly guard: Guard
}

/** Refills slowly, so that what others have drawn shows even if the store answers a few seconds later than the last time. */
const rule = { limit: 6, periodMs: 60_000, burst: 1_000 }
const lookMs = 1_000
/** What was left longer ago does not tell when others have drawn. */
const staleMs = 10_000

export class SharedRefusals {
  readonly #counts: RefusalCounts
  readonly #bucket: string
  /** Another process was refused. */
  readonly #heard: () => void
  /** Refusals of this process that are not counted yet. */
  #own = 0
  #askedAt = -Infinity
  #isAsking = false
  #left = 0
  #leftAt = -Infinity

  constructor(counts: RefusalCounts, names: readonly [provider: string, model: string], heard: () => void) {
    this.#counts = counts
    this.#bucket = `refusals ${hash('sha256', JSON.stringify(names), 'hex')}`
    this.#heard = heard
  }

  /** This process was refused. */
  count(now: number): void {
    this.#own++
    void this.#ask(now)
  }

  /** Looks for refusals of others, at most once a second. */
  look(now: number): void {
    if (now - this.#askedAt >= lookMs) void this.#ask(now)
  }

  async #ask(now: number): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    this.#askedAt = now
    const own = this.#own
    this.#own = 0
    const rates: RateRule[] = [{ ...rule, bucket: this.#bucket, cost: own }]
    try {
      const claim = { id: this.#bucket, rates, places: [], leaseMs: 1_000 }
      this.#counted(await this.#counts.guard.call(() => this.#counts.store.take(claim)), own)
    } catch {
      // The guard reports it; each process finds its part alone, as without a store.
    } finally {
      this.#isAsking = false
    }
  }

  #counted({ left: [left = 0] }: LimitVerdict, own: number): void {
    const now = performance.now()
    const ms = now - this.#leftAt
    const expected = Math.min(rule.burst, this.#left + (ms * rule.limit) / rule.periodMs) - own
    this.#left = left
    this.#leftAt = now
    if (ms < staleMs && expected - left > 0.5) this.#heard()
  }
}
