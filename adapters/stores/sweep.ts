import { pause } from '../../src/http/deadline.ts'

/** Milliseconds from the start of one round to that of the next. */
const intervalMs = 60_000
/** Milliseconds of pause before each step, so that a sweep takes little of the store's capacity. */
const pauseMs = 20

/**
 * Deletes expired rows in the background, in short steps. A round begins at most once a minute, and only while the store is
 * used: no timer runs in an idle process.
 *
 * @example
 * const sweep = new Sweep(async () => (await deleteExpired({ limit: 100 })) === 100)
 * // in each method of the store: sweep.use()
 */
export class Sweep {
  readonly #step: () => Promise<boolean> | boolean
  #due = 0
  #stop = new AbortController()
  #round: Promise<void> | undefined

  /** `step` deletes some expired rows, and returns whether more may be left. If it throws, the round ends. */
  constructor(step: () => Promise<boolean> | boolean) {
    this.#step = step
  }

  /** Call this whenever the store is used: starts a round if one is due. Returns at once. */
  use(): void {
    const now = performance.now()
    if (this.#round !== undefined || now < this.#due) return
    this.#due = now + intervalMs
    this.#stop = new AbortController()
    this.#round = this.#run(this.#stop.signal)
  }

  /** Stops the round after its current step, and resolves when that step is done. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#round
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      do await pause(pauseMs, signal)
      while (!signal.aborted && (await this.#step()))
    } catch {
      // The next round deletes the rows that this one left.
    } finally {
      this.#round = undefined
    }
  }
}
