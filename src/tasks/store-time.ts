import type { TaskStore } from './contract.ts'

/** Milliseconds after which the store's clock is read again. */
const trustMs = 60_000
/** Milliseconds by which the local clock may go wrong in that time. More means that it was set, or that the machine slept. */
const driftMs = 1_000

/** What the clocks said when that of the store was read. */
interface Reading {
  readonly there: number
  readonly local: number
  readonly elapsed: number
}

/** The current time by the store's clock, if it has one, so that machines whose clocks differ agree. */
export class StoreTime {
  readonly #store: Pick<TaskStore, 'now'>
  readonly #local: () => number
  readonly #elapsed: () => number
  #last: Reading | undefined
  #reading: Promise<Reading> | undefined

  /** `elapsed`: a monotonic clock in milliseconds, by which the time since the last reading is measured. */
  constructor(store: Pick<TaskStore, 'now'>, local: () => number, elapsed: () => number = () => performance.now()) {
    this.#store = store
    this.#local = local
    this.#elapsed = elapsed
  }

  /** Milliseconds since the epoch. Rejects if the store's clock must be read and cannot be. */
  async now(): Promise<number> {
    if (this.#store.now === undefined) return this.#local()
    let reading = this.#last
    if (reading === undefined || this.#isOld(reading)) {
      this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
      this.#last = reading = await this.#reading
    }
    // Rounded, because a store may reject fractions.
    return Math.round(reading.there + this.#elapsed() - reading.elapsed)
  }

  #isOld({ local, elapsed }: Reading): boolean {
    const age = this.#elapsed() - elapsed
    return age > trustMs || Math.abs(this.#local() - local - age) > driftMs
  }

  async #read(): Promise<Reading> {
    const before = this.#elapsed()
    const there = (await this.#store.now?.()) as number
    const elapsed = this.#elapsed()
    return { there: there + (elapsed - before) / 2, local: this.#local(), elapsed }
  }
}
