/** Goes on with the tasks that nobody asks about: recovery, cancellation, settlement. One unref'ed timer. */
import { advance } from './advance.ts'
import { save, type TaskParts } from './parts.ts'
import { changed, fromRecord, type StoredTask } from './task.ts'

export interface SweeperOptions {
  /** Milliseconds between two looks for due tasks, give or take a fifth. Default 1,000. */
  readonly everyMs: number
  /** Tasks worked on at once. Default 64. */
  readonly concurrency: number
  /** Tasks of one provider worked on at once. Default 16. */
  readonly perProvider: number
  readonly random: () => number
}

export class Sweeper {
  readonly #parts: TaskParts
  readonly #options: SweeperOptions
  readonly #running = new Set<Promise<void>>()
  readonly #busy = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(parts: TaskParts, options: SweeperOptions) {
    this.#parts = parts
    this.#options = options
  }

  /** Begins to look. Called again, it does nothing. */
  start(): void {
    if (this.#timer !== undefined || this.#stopped) return
    this.#plan()
  }

  /** One look: everything due is begun, as far as there is room. Resolves when that work is done. */
  async sweep(): Promise<void> {
    const { concurrency } = this.#options
    while (!this.#stopped) {
      if (this.#running.size >= concurrency) {
        await Promise.race(this.#running)
        continue
      }
      const limit = concurrency - this.#running.size
      const claimed = await this.#parts.store.claim({
        now: await this.#parts.now(),
        leaseMs: this.#parts.timing.leaseMs,
        limit,
      })
      for (const record of claimed) this.#work(fromRecord(record))
      if (claimed.length < limit) break
    }
    await Promise.all(this.#running)
  }

  /** Ends the looking; resolves when the work under way is done. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await Promise.all(this.#running)
  }

  #plan(): void {
    const jitter = 0.8 + 0.4 * this.#options.random()
    this.#timer = setTimeout(() => {
      // A store that is down is asked again at the next look; the tasks' own due times do the rest.
      void this.sweep()
        .catch(() => undefined)
        .then(() => this.#stopped || this.#plan())
    }, this.#options.everyMs * jitter)
    this.#timer.unref()
  }

  #work(task: StoredTask): void {
    const provider = task.data.provider ?? ''
    const busy = this.#busy.get(provider) ?? 0
    const step =
      this.#stopped || busy >= this.#options.perProvider ? this.#putBack(task) : this.#step(task, provider, busy)
    // A step that fails leaves its lease behind: when that has run out, the task is due again.
    const work: Promise<void> = step
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => this.#running.delete(work))
    this.#running.add(work)
  }

  async #step(task: StoredTask, provider: string, busy: number): Promise<void> {
    this.#busy.set(provider, busy + 1)
    try {
      await advance(this.#parts, task)
    } finally {
      this.#busy.set(provider, (this.#busy.get(provider) ?? 1) - 1)
    }
  }

  async #putBack(task: StoredTask): Promise<void> {
    await save(this.#parts, changed(task, {}, { leasedUntil: 0, dueAt: (await this.#parts.now()) + 1_000 }))
  }
}
