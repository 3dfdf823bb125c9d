import type { UsageStore } from './contract.ts'

const everyMs = 3_600_000
/** Records per step, and milliseconds between two steps. */
const [batch, restMs] = [500, 50]

/** What `Retention` needs. */
export interface RetentionOptions {
  readonly store: Pick<Required<UsageStore>, 'removeBefore'>
  /** Deletes records of refused requests alone. */
  readonly only?: 'refused'
  /** Milliseconds for which records are kept. */
  readonly keepMs: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly failed: (error: unknown) => void
}

/** Deletes old usage records in small batches: at the first use, and then every hour. */
export class Retention {
  readonly #options: RetentionOptions
  #timer: NodeJS.Timeout | undefined
  #step: Promise<void> | undefined
  #closed = false

  constructor(options: RetentionOptions) {
    this.#options = options
  }

  /** Starts the first run. Further calls do nothing. */
  use(): void {
    if (this.#timer === undefined) this.#plan(0)
  }

  /** Stops, after the step in progress. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#step
  }

  #plan(ms: number): void {
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      this.#step = this.#run().finally(() => (this.#step = undefined))
    }, ms)
    this.#timer.unref()
  }

  async #run(): Promise<void> {
    const { store, only, keepMs, now, failed } = this.#options
    let ms = everyMs
    try {
      const removed = await store.removeBefore(now() - keepMs, batch, only)
      if (removed === batch) ms = restMs
    } catch (error) {
      failed(error)
    }
    this.#plan(ms)
  }
}
