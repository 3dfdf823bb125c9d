import type { Settlement } from '../money/ledger/contract.ts'
import type { LimitReturn } from '../money/limits/contract.ts'
import type { Observer } from '../observe/observe.ts'
import { isCharge, type Counters } from './counters.ts'
import type { AdmissionEnd } from './contract.ts'
import { pause } from '../http/deadline.ts'
import { Queue } from '../records/queue.ts'

/** Maximum number of charges that wait for the ledger before paid requests are rejected. */
const mostEndings = 10_000
/** Maximum number of returns that wait for the limit store. Dropped ones do no harm: the leases of places expire. */
const mostReturns = 10_000
/** Milliseconds that it takes a process to tell the stores what has ended. */
const slackMs = 50
const never = new AbortController().signal

/**
 * Sends the outcome of requests to the stores after the response, and retries until a store has accepted it. Each store
 * has its own queue, so that one that is down does not delay the other.
 */
export class SettlementQueue {
  readonly #money: Queue<AdmissionEnd>
  /** The same queue as `#money` if an admission store updates limits and ledger in one call. */
  readonly #limits: Queue<AdmissionEnd>
  /** Milliseconds for which the end of a call may wait, in every process. */
  readonly waitMs: number
  readonly #answerMs: number
  /** The answers that end once the charge with this id is stored. */
  readonly #answers = new Map<string, () => void>()

  /** `waitMs`: for how long endings may wait. `answerMs`: for how long an answer waits for its charge; 0: it does not. */
  constructor(
    counters: Counters,
    observer: Observer,
    { waitMs, answerMs }: { readonly waitMs: number; readonly answerMs: number },
  ) {
    this.waitMs = waitMs
    this.#answerMs = answerMs
    const send = (batch: readonly AdmissionEnd[]) => {
      const sent = counters.finish(batch)
      return answerMs === 0 || sent === undefined ? sent : sent.then(() => this.#stored(batch))
    }
    this.#money = new Queue<AdmissionEnd>({
      send,
      again: withoutCorrections,
      waitMs,
      most: Infinity,
      dropped: ({ returned, end }, error) => {
        observer.dropped('settlements')
        observer.failure({ id: end?.id ?? returned?.id ?? '', error, ...(end && isCharge(end) && { unsettled: end }) })
      },
    })
    this.#limits = counters.together
      ? this.#money
      : new Queue<AdmissionEnd>({
          send,
          again: withoutCorrections,
          waitMs,
          most: mostReturns,
          dropped: () => observer.dropped('returns'),
        })
  }

  /**
   * Returns a promise that the answer of the call waits for, if there is one. `hasRoom`: whether many more such calls fit, so that
   * this may wait. Called only if the stores are asynchronous.
   */
  add(
    returned: AdmissionEnd['returned'],
    end: AdmissionEnd['end'],
    hasRoom: () => boolean = () => false,
  ): Promise<void> | undefined {
    const isAwaited = this.#answerMs > 0 && end !== undefined && isCharge(end)
    const mayWait = this.waitMs > 0 && !isAwaited && (this.#money.isAsync || this.#limits.isAsync) && hasRoom()
    if (returned !== undefined && end !== undefined && this.#limits === this.#money) {
      this.#money.add({ returned, end }, mayWait)
    } else {
      if (returned !== undefined) this.#limits.add({ returned }, mayWait)
      if (end !== undefined) this.#money.add({ end }, mayWait)
    }
    return isAwaited && this.#money.size > 0 ? this.#awaited(end.id) : undefined
  }

  #awaited(id: string): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#answers.delete(id)
        resolve()
      }
      const timer = setTimeout(done, this.#answerMs)
      timer.unref()
      this.#answers.set(id, done)
    })
  }

  #stored(batch: readonly AdmissionEnd[]): void {
    for (const { end } of batch) if (end !== undefined) this.#answers.get(end.id)?.()
  }

  /**
   * Sends what is queued here, and resolves once what had ended by `since` (as of `performance.now()`) in other processes must
   * be in the stores, too. `ms`: for how long it may wait there. `slowMs`: what a store takes that is slow now.
   */
  async returnedByAll(since: number, ms: number = this.waitMs, slowMs: number = 0): Promise<void> {
    const sent = this.returned(ms)
    await pause(Math.max(1, since + ms + slackMs + slowMs - performance.now()), never)
    await sent
  }

  /** Whether too many charges wait for the ledger. */
  get overflowing(): boolean {
    return this.#money.size >= mostEndings
  }

  /** The number of items that the stores have not accepted yet. */
  get sizes(): { readonly settlements: number; readonly returns: number } {
    return { settlements: this.#money.size, returns: this.#limits === this.#money ? 0 : this.#limits.size }
  }

  /** Sends what is queued: what is written after it, such as usage records, is about calls that are charged. */
  hurry(): void {
    this.#money.hurry()
  }

  /** Whether places are queued to be returned to the limit store. */
  get areReturning(): boolean {
    return this.#limits.size > 0
  }

  /** Resolves when all queued places are returned, or after `ms`. */
  returned(ms: number): Promise<void> {
    return this.#limits.idle(ms)
  }

  /** Charges that the ledger has not accepted yet. */
  get unsettled(): readonly Settlement[] {
    return this.#money.left.flatMap(({ end }) => (end !== undefined && isCharge(end) ? [end] : []))
  }

  /**
   * Sends what is queued: charges within `settleMs`, releases of holds within `ms`. Does not wait long for places, because
   * their leases expire.
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

/** What may be sent a second time: returning places and ending holds is idempotent, corrections are not. */
function withoutCorrections({ returned, ...rest }: AdmissionEnd): AdmissionEnd {
  const again: LimitReturn | undefined = returned && { ...returned, corrections: [] }
  return again === undefined ? rest : { ...rest, returned: again }
}
