import type { TaskStore } from './contract.ts'

/** Milliseconds after which the difference between the clocks is measured again. */
const trustMs = 60_000

/** The current time by the store's clock, if it has one, so that machines whose clocks differ agree. */
export class StoreTime {
  readonly #store: Pick<TaskStore, 'now'>
  readonly #local: () => number
  #offset = 0
  #measuredAt = Number.NEGATIVE_INFINITY
  #measuring: Promise<void> | undefined

  constructor(store: Pick<TaskStore, 'now'>, local: () => number) {
    this.#store = store
    this.#local = local
  }

  /** Milliseconds since the epoch. Rejects if the store's clock must be read and cannot be. */
  async now(): Promise<number> {
    if (this.#store.now === undefined) return this.#local()
    const age = this.#local() - this.#measuredAt
    // A negative age means that the local clock was set back, which invalidates the measurement.
    if (age < 0 || age > trustMs) {
      this.#measuring ??= this.#measure().finally(() => {
        this.#measuring = undefined
      })
      await this.#measuring
    }
    return this.#local() + this.#offset
  }

  async #measure(): Promise<void> {
    const before = this.#local()
    const there = (await this.#store.now?.()) as number
    const after = this.#local()
    // Rounded, because a store may reject fractions.
    this.#offset = Math.round(there - (before + after) / 2)
    this.#measuredAt = after
  }
}
