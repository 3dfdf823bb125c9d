import { Rounds } from '../records/rounds.ts'
import type { TaskRecord, TaskStore } from './contract.ts'

/** The tasks that a sweeper advances. */
export interface Swept {
  readonly store: TaskStore
  readonly now: () => Promise<number>
  /** Lease of a task for one step, in milliseconds. */
  readonly leaseMs: number
  /** Does the next step of a task that is leased. */
  readonly step: (task: TaskRecord) => Promise<unknown>
  /** Who works on a task, for the limit of concurrent steps. */
  readonly worker: (task: TaskRecord) => string
}

export interface SweeperOptions {
  /** Milliseconds between two sweeps while tasks become due, ± 20 %; see `Rounds`. Default 1,000. */
  readonly everyMs: number
  /** The same while none becomes due. Default 15,000. */
  readonly quietMs?: number
  /** Maximum number of concurrent steps. Default 64. */
  readonly concurrency: number
  /** Maximum number of concurrent steps for one provider. Default 16. */
  readonly perProvider: number
  readonly random: () => number
  /** Learns of tasks that cannot be read. */
  readonly failed?: ((id: string, error: unknown) => void) | undefined
}

/** Advances due tasks whose client does not poll: recovers, cancels and settles them, and sends webhooks. */
export class Sweeper {
  readonly #swept: Swept
  readonly #options: SweeperOptions
  readonly #running = new Set<Promise<void>>()
  readonly #busy = new Map<string, number>()
  readonly #rounds: Rounds
  #stopped = false

  constructor(swept: Swept, options: SweeperOptions) {
    this.#swept = swept
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
      const { store, now, leaseMs } = this.#swept
      const limit = concurrency - this.#running.size
      const claimed = await store.claim({ now: await now(), leaseMs, limit })
      for (const task of claimed) this.#work(task)
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

  #work(task: TaskRecord): void {
    const worker = this.#swept.worker(task)
    const busy = this.#busy.get(worker) ?? 0
    const step =
      this.#stopped || busy >= this.#options.perProvider ? this.#putBack(task) : this.#step(task, worker, busy)
    // If a step fails, the task is due again once its lease expires.
    const work: Promise<void> = step
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => this.#running.delete(work))
    this.#running.add(work)
  }

  async #step(task: TaskRecord, worker: string, busy: number): Promise<void> {
    this.#busy.set(worker, busy + 1)
    try {
      await this.#swept.step(task)
    } finally {
      this.#busy.set(worker, (this.#busy.get(worker) ?? 1) - 1)
    }
  }

  /** If another process has changed the task meanwhile, it is due again once its lease expires. */
  async #putBack(task: TaskRecord): Promise<void> {
    const { store, now } = this.#swept
    await store.replace({ ...task, version: task.version + 1, leasedUntil: 0, dueAt: (await now()) + 1_000 })
  }
}
