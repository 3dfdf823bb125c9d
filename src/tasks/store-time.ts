/** The time by which tasks are stamped: the store's own clock where it has one, so that machines agree. */
import type { TaskStore } from './contract.ts'

/** How long a measured difference is trusted. */
const trustMs = 60_000

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

  /** Milliseconds since the epoch. Rejects when the store's clock was never read and cannot be read now. */
  async now(): Promise<number> {
    if (this.#store.now === undefined) return this.#local()
    const age = this.#local() - this.#measuredAt
    // A clock that was set back makes the measurement worthless as well.
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
    // Whole milliseconds: a store may refuse anything else.
    this.#offset = Math.round(there - (before + after) / 2)
    this.#measuredAt = after
  }
}
