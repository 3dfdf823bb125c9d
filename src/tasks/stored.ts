/** Stored tasks with data of one kind: their versions, their leases, and who works on them. */
import { GatewayError } from '../errors.ts'
import { readable, unreadable } from '../records/unreadable.ts'
import { copyJson, isRecord } from '../wire/json.ts'
import type { TaskListOptions, TaskRecord, TaskStore } from './contract.ts'
import { Sweeper, type SweeperOptions } from './sweeper.ts'

/** A stored task with typed data. */
export interface Stored<Data> extends Omit<TaskRecord, 'data'> {
  /** What the task is for, and its state. */
  readonly data: Data
}

/** Where tasks are kept. */
export interface TaskKeeping {
  readonly store: TaskStore
  /** Milliseconds since the epoch, by the store's clock. */
  readonly now: () => Promise<number>
}

/** The next version of a task. Keeps the lease unless `times` changes it. */
export function changed<Data>(
  task: Stored<Data>,
  data: Partial<Data>,
  times: Partial<Pick<TaskRecord, 'dueAt' | 'leasedUntil' | 'expiresAt'>> = {},
): Stored<Data> {
  return { ...task, ...times, version: task.version + 1, data: { ...task.data, ...data } }
}

/** Plain JSON, without undefined fields. */
export function toRecord(task: Stored<unknown>): TaskRecord {
  return { ...task, data: copyJson(task.data) }
}

/** Throws if its data cannot be read. */
export function fromRecord<Data>(record: TaskRecord): Stored<Data> {
  if (!isRecord(record.data)) throw unreadable(`task ${record.id} of account ${record.account}`)
  return { ...record, data: record.data as Data }
}

/** What `saved` has done: with `won: false`, `task` is the version of another process. */
export interface Saved<Data> {
  readonly won: boolean
  readonly task: Stored<Data>
}

/**
 * Stores the next version, unless another process has changed the task meanwhile. If that was only its owner, who has set `wish`,
 * which changes nothing else, the next version is stored with the wish.
 */
export async function saved<Data>(
  keeping: Pick<TaskKeeping, 'store'>,
  next: Stored<Data>,
  wish: keyof Data,
): Promise<Saved<Data>> {
  const { store } = keeping
  if (await store.replace(toRecord(next))) return { won: true, task: next }
  // Time 0: a deleted task has expired.
  const current = await store.find(next.account, next.id, 0)
  if (current === undefined) return { won: false, task: next }
  const task = fromRecord<Data>(current)
  const { version, expiresAt, data } = task
  if (version !== next.version || data[wish] === undefined || next.data[wish] !== undefined) return { won: false, task }
  return saved(keeping, { ...next, version: version + 1, expiresAt, data: { ...next.data, [wish]: data[wish] } }, wish)
}

/** The task with the lease of a step; undefined if it is not due or another process holds the lease. */
export async function leasedIfDue<Data>(
  keeping: TaskKeeping,
  task: Stored<Data>,
  leaseMs: number,
  wish: keyof Data,
): Promise<Stored<Data> | undefined> {
  const now = await keeping.now()
  if (task.dueAt === null || task.dueAt > now || task.leasedUntil > now) return undefined
  const { won, task: leased } = await saved(keeping, changed(task, {}, { leasedUntil: now + leaseMs }), wish)
  return won ? leased : undefined
}

/** How tasks of one kind are worked on. */
export interface Working<Data> {
  /** In messages, such as `batches`. */
  readonly noun: string
  /** Lease of a task for one step, in milliseconds. */
  readonly leaseMs: number
  /** Does the next step of a task that is leased. */
  readonly step: (task: Stored<Data>) => Promise<unknown>
  /** Who works on a task, for the limit of concurrent steps. */
  readonly worker: (data: Data) => string
}

/** The tasks of one kind, of all accounts. */
export class Tasks<Data> {
  protected readonly sweeper: Sweeper
  readonly #keeping: TaskKeeping
  readonly #noun: string
  readonly #failed: SweeperOptions['failed']

  constructor({ store, now }: TaskKeeping, { noun, leaseMs, step, worker }: Working<Data>, sweeping: SweeperOptions) {
    this.#keeping = { store, now }
    this.#noun = noun
    this.#failed = sweeping.failed
    const swept = { store, now, leaseMs }
    this.sweeper = new Sweeper(
      {
        ...swept,
        step: async (task) => {
          const [read] = this.#read([task])
          if (read !== undefined) return step(read)
          return task.expiresAt <= (await now()) && this.discard(task)
        },
        worker: ({ data }) => (isRecord(data) ? worker(data as Data) : ''),
      },
      sweeping,
    )
  }

  /** Advances tasks of earlier processes and of clients that do not poll, from now on. */
  start(): void {
    this.sweeper.start()
  }

  /** Waits for steps in progress. Another process, or the next start, continues the tasks. */
  async close(): Promise<void> {
    await this.sweeper.stop()
    await this.#keeping.store.close?.()
  }

  /** Throws a 404 if the store cannot list them. */
  async list(account: string, options: Omit<TaskListOptions, 'now'>): Promise<Stored<Data>[]> {
    const { store } = this.#keeping
    if (store.list === undefined) throw this.unlisted()
    return this.pages(
      options,
      async (page) => (await store.list?.(account, page)) ?? [],
      ({ id }) => id,
    )
  }

  /** As many tasks as are asked for, in the order of the store. Those that cannot be read are reported and left out. */
  protected async pages<Options extends { readonly limit: number; readonly after?: unknown }>(
    options: Options,
    read: (page: Options & { readonly now: number }) => Promise<readonly TaskRecord[]>,
    placeOf: (task: TaskRecord) => Options['after'],
  ): Promise<Stored<Data>[]> {
    const { limit } = options
    const now = await this.#keeping.now()
    const found: Stored<Data>[] = []
    for (let after = options.after; ;) {
      const records = await read({ ...options, now, ...(after !== undefined && { after }) })
      found.push(...this.#read(records))
      const last = records.at(-1)
      if (last === undefined || records.length < limit || found.length >= limit) return found.slice(0, limit)
      after = placeOf(last)
    }
  }

  #read(records: readonly TaskRecord[]): Stored<Data>[] {
    return readable(records, fromRecord<Data>, this.#failed)
  }

  /** Ends a task whose data cannot be read. */
  protected async discard(task: TaskRecord): Promise<void> {
    const { store, now } = this.#keeping
    const expiresAt = Math.min(task.expiresAt, await now())
    await store.replace({ ...task, version: task.version + 1, expiresAt, dueAt: null, leasedUntil: 0, data: {} })
  }

  /** Removes the tasks of an account, each by `remove`; none if the store cannot list them. */
  protected async removeEach(account: string, remove: (task: Stored<Data>) => Promise<unknown>): Promise<void> {
    const { store, now } = this.#keeping
    if (store.list === undefined) return
    for (;;) {
      const records = await store.list(account, { limit: 100, order: 'asc', now: await now() })
      if (records.length === 0) return
      for (const record of records) {
        const [task] = this.#read([record])
        await (task === undefined ? this.discard(record) : remove(task))
      }
    }
  }

  /** The account's task, unless it has expired. */
  protected async stored(account: string, id: string): Promise<Stored<Data> | undefined> {
    const { store, now } = this.#keeping
    const record = await store.find(account, id, await now())
    return record && fromRecord(record)
  }

  protected unlisted(): GatewayError {
    return new GatewayError('not_found', { message: `This server does not list ${this.#noun}.` })
  }
}
