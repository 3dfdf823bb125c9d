/** Taking away what is over, behind the calls of a store: nobody waits for it, and no step of it is long. */
import { pause } from '../../../src/http/deadline.ts'

/** Milliseconds from the begin of one round to that of the next. */
const everyMs = 60_000
/** Milliseconds of rest before each step. */
const restMs = 20

export class Sweep {
  readonly #step: () => Promise<boolean> | boolean
  #due = 0
  #stop = new AbortController()
  #round: Promise<void> | undefined

  /** `step` takes a part of it away, and tells whether there may be more. */
  constructor(step: () => Promise<boolean> | boolean) {
    this.#step = step
  }

  /** To be called whenever the store is used: begins a round when it is time for one. */
  use(): void {
    const now = performance.now()
    if (this.#round !== undefined || now < this.#due) return
    this.#due = now + everyMs
    this.#stop = new AbortController()
    this.#round = this.#run(this.#stop.signal)
  }

  /** Ends the round. Resolves when no step is under way. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#round
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      do await pause(restMs, signal)
      while (!signal.aborted && (await this.#step()))
    } catch {
      // The store is down. The next round takes away what this one has left.
    } finally {
      this.#round = undefined
    }
  }
}
