import { pause } from '../../../src/http/deadline.ts'

/** Milliseconds from the start of one sweep to the start of the next. */
const everyMs = 60_000
/** Milliseconds between two steps. */
const restMs = 20

/** Deletes expired rows in the background, in short steps. The store's own calls never wait for it. */
export class Sweep {
  readonly #step: () => Promise<boolean> | boolean
  #due = 0
  #stop = new AbortController()
  #round: Promise<void> | undefined

  /** `step` deletes some rows and returns whether there may be more. */
  constructor(step: () => Promise<boolean> | boolean) {
    this.#step = step
  }

  /** Call it on every use of the store: starts a sweep if one is due. */
  use(): void {
    const now = performance.now()
    if (this.#round !== undefined || now < this.#due) return
    this.#due = now + everyMs
    this.#stop = new AbortController()
    this.#round = this.#run(this.#stop.signal)
  }

  /** Stops the sweep. Resolves when no step is running. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#round
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      do await pause(restMs, signal)
      while (!signal.aborted && (await this.#step()))
    } catch {
      // The store is down: the next sweep deletes what this one could not.
    } finally {
      this.#round = undefined
    }
  }
}
