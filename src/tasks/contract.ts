/**
 * Where tasks are kept that outlive their request. Four methods, plain JSON, and every time in them is a number given
 * by the gateway: a store compares numbers, it needs no clock and no timer of its own. `memory.ts` is the embedded
 * store; `testTaskStore` of `modelhatch/testing` says whether another one keeps its promises.
 *
 * The one rule behind all of them: a task changes only by `replace` and `claim`, each atomic, each raising `version` by
 * one. Whoever holds an older version has lost and must read again.
 */
import type { Json } from '../wire/json.ts'

/** One task as it is stored. All times are milliseconds since the epoch. */
export interface TaskRecord {
  /** The account the task belongs to. Part of the key: a task is never found under another account. */
  readonly account: string
  /** Unique within the account. Letters, digits, `_` and `-`, at most 80 characters. */
  readonly id: string
  /** 1 when inserted, raised by one with every change. */
  readonly version: number
  readonly createdAt: number
  /** From this moment on the task is not found. It may be forgotten once `dueAt` is null as well. */
  readonly expiresAt: number
  /** When work on the task is due; null: never again. */
  readonly dueAt: number | null
  /** Until when somebody is working on the task; 0: nobody is. */
  readonly leasedUntil: number
  /**
   * What the gateway knows of the task: any Unicode, as JSON text up to `sizes.jsonBytes` (20 MiB) while it holds the
   * picture a video begins with, some kilobytes later. A store does not look into it.
   */
  readonly data: Json
}

export interface TaskClaim {
  readonly now: number
  /** For how long the claimed tasks are leased. */
  readonly leaseMs: number
  /** Tasks at most. */
  readonly limit: number
}

export interface TaskListOptions {
  readonly now: number
  /** Tasks at most. */
  readonly limit: number
  /** Only tasks that come after the one with this id in the order of the list. */
  readonly after?: string
  readonly order: 'asc' | 'desc'
}

export interface TaskStore {
  /**
   * Required. Adds the task unless the account already has one with this id. Resolves to the task that is stored
   * afterwards: the given one, or the one that was there and is unchanged. Of any number of concurrent inserts of one id
   * exactly one is stored. A task that has expired at `task.createdAt` and whose `dueAt` is null counts as absent.
   * Rejects when the store is full or cannot tell; a store may refuse new tasks but never gives up one it has.
   */
  insert(task: TaskRecord): Promise<TaskRecord>

  /**
   * Required. The task of this account with this id, as the last change left it, a change by another process included;
   * undefined when there is none or its `expiresAt` is `now` or earlier. The result is the caller's own: changing it
   * changes nothing in the store.
   */
  find(account: string, id: string, now: number): Promise<TaskRecord | undefined>

  /**
   * Required. Replaces the task if the stored version is `task.version - 1`. True if it did; false, and nothing
   * changed, if the task is gone or has another version. Of any number of concurrent replaces of one version exactly
   * one is true. Works on expired tasks too.
   */
  replace(task: TaskRecord): Promise<boolean>

  /**
   * Required. Takes tasks of any account whose `dueAt` is `now` or earlier and whose `leasedUntil` is `now` or earlier,
   * expired ones included, the longest due first: each gets `leasedUntil = now + leaseMs` and the next version in one
   * step, and is given back as it is stored then. No task is given to two callers. Recommended: forgets in passing the
   * tasks that have expired and are not due any more.
   */
  claim(options: TaskClaim): Promise<TaskRecord[]>

  /** Recommended. The tasks of an account that have not expired, by `createdAt` and then `id`. */
  list?(account: string, options: TaskListOptions): Promise<TaskRecord[]>

  /**
   * Recommended for a store that several machines share: its own clock. The gateway asks now and then, and gives all
   * times by it, so that machines whose clocks differ agree on leases and expiry.
   */
  now?(): Promise<number>

  /** Optional. Gives back what the store holds. Called once by `gateway.close()`. */
  close?(): Promise<void>
}
