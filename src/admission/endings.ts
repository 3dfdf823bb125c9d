/**
 * What becomes of calls, told to the stores after the answer: until a store has taken it, and to each store by itself, so
 * that one that is down holds up no other.
 */
import type { Settlement } from '../billing/contract.ts'
import type { LimitReturn } from '../limits/contract.ts'
import { publishFailure } from '../observe.ts'
import type { Counters } from './counters.ts'
import type { CallEnd } from '../options/storage.ts'
import { Queue } from '../store-access/queue.ts'

/** Endings that wait for a ledger that is down at most, before further calls that cost something are refused. */
const mostEndings = 10_000
/** What waits for a limit store that is down at most: the leases of places end by themselves. */
const mostReturns = 10_000

export class Endings {
  readonly #money: Queue<CallEnd>
  /** The same queue where one store takes limits and money in one step. */
  readonly #limits: Queue<CallEnd>

  constructor(counters: Counters) {
    const send = (batch: readonly CallEnd[]) => counters.finish(batch)
    this.#money = new Queue<CallEnd>({
      send,
      again: withoutCorrections,
      most: Infinity,
      dropped: ({ returned, end }, error) =>
        publishFailure({ id: end?.id ?? returned?.id ?? '', error, ...(end && isCharge(end) && { unsettled: end }) }),
    })
    this.#limits = counters.together
      ? this.#money
      : new Queue<CallEnd>({ send, again: withoutCorrections, most: mostReturns, dropped: () => undefined })
  }

  add({ returned, end }: CallEnd): void {
    if (this.#limits !== this.#money) {
      if (returned !== undefined) this.#limits.add({ returned })
      if (end !== undefined) this.#money.add({ end })
    } else if (returned !== undefined || end !== undefined) {
      this.#money.add({ ...(returned && { returned }), ...(end && { end }) })
    }
  }

  /** So much is not charged yet that no more should be added. */
  get overflowing(): boolean {
    return this.#money.size >= mostEndings
  }

  /** Whether places are on their way back to their store. */
  get areReturning(): boolean {
    return this.#limits.size > 0
  }

  /** Resolves when all places are back, or after `ms`. */
  returned(ms: number): Promise<void> {
    return this.#limits.idle(ms)
  }

  /** The holds of calls that were answered and are not charged yet. */
  get unsettled(): readonly Settlement[] {
    return this.#money.left.flatMap(({ end }) => (end !== undefined && isCharge(end) ? [end] : []))
  }

  /**
   * Tells what is still untold: charges within `settleMs`, holds to be released within `ms`. Places are not worth a wait:
   * their leases end by themselves.
   */
  async drain(settleMs: number, ms: number): Promise<void> {
    const placesMs = Math.min(ms, 250)
    const holds = this.#money.left.some(({ end }) => end !== undefined)
    const moneyMs = this.unsettled.length > 0 ? settleMs : holds ? ms : placesMs
    await Promise.all([
      this.#money.drain(moneyMs),
      this.#limits === this.#money ? undefined : this.#limits.drain(placesMs),
    ])
  }
}

function isCharge(end: NonNullable<CallEnd['end']>): end is Settlement {
  return end.amount !== undefined
}

/** Places and money may be given back twice, a correction may not. */
function withoutCorrections({ returned, ...rest }: CallEnd): CallEnd {
  const again: LimitReturn | undefined = returned && { ...returned, corrections: [] }
  return again === undefined ? rest : { ...rest, returned: again }
}
