import { Rounds } from '../records/rounds.ts'
import { advance } from './advance.ts'
import { save, type TaskServices } from './services.ts'
import { changed, fromRecord, type StoredTask } from './task.ts'

export interface SweeperOptions {
  /** Milliseconds between two sweeps while tasks become due, ± 20 %; see `Rounds`. Default 1,000. */
  readonly everyMs: number
  /** Maximum number of concurrent steps. Default 64. */
  readonly concurrency: number
  /** Maximum number of concurrent steps for one provider. Default 16. */
  readonly perProvider: number
  readonly random: () => number
}

/** Advances due tasks whose client does not poll: recovers, cancels and settles them, and sends webhooks. */
export class Sweeper {
  readonly #services: TaskServices
  readonly #options: SweeperOptions
  readonly #running = new Set<Promise<void>>()
  readonly #busy = new Map<string, number>()
  readonly #rounds: Rounds
  #stopped = false

  constructor(services: TaskServices, options: SweeperOptions) {
    this.#services = services
    this.#options = options
    // If the store is down, the tasks stay due until the next sweep.
    this.#rounds = new Rounds({ ...options, round: () => this.sweep() })
  }

  /** Sweeps from now on, often while there are tasks. To be called for each task that may become due. */
  start(): void {
    this.#rounds.wake()
  }

  /** Processes all due tasks, within the limits of concurrency. Resolves when they are done: whether there were any. */
  async sweep(): Promise<boolean> {
    const { concurrency } = this.#options
    let hadWork = false
    while (!this.#stopped) {
      if (this.#running.size >= concurrency) {
        await Promise.race(this.#running)
        continue
      }
      const limit = concurrency - this.#running.size
      const claimed = await this.#services.store.claim({
        now: await this.#services.now(),
        leaseMs: this.#services.timing.leaseMs,
        limit,
      })
      for (const record of claimed) this.#work(fromRecord(record))
      hadWork ||= claimed.length > 0
      if (claimed.length < limit) break
    }
    await Promise.all(this.#running)
    return hadWork
  }

  /** Ends the sweeps. Resolves when the steps in progress are done. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#rounds.stop()
    await Promise.all(this.#running)
  }

  #work(task: StoredTask): void {
    const provider = task.data.provider ?? ''
    const busy = this.#busy.get(provider) ?? 0
    const step =
      this.#stopped || busy >= this.#options.perProvider ? this.#putBack(task) : this.#step(task, provider, busy)
    // If a step fails, the task is due again once its lease expires.
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
      await advance(this.#services, task)
    } finally {
      this.#busy.set(provider, (this.#busy.get(provider) ?? 1) - 1)
    }
  }

  async #putBack(task: StoredTask): Promise<void> {
    await save(this.#services, changed(task, {}, { leasedUntil: 0, dueAt: (await this.#services.now()) + 1_000 }))
  }
}
