import type { Json } from '../wire/json.ts'

/** One task as a store keeps it. All times are milliseconds since the epoch. */
export interface TaskRecord {
  /** The account the task belongs to. Part of the key: a task is never found under another account. */
  readonly account: string
  /** Unique within the account. Letters, digits, `_` and `-`, at most 80 characters. */
  readonly id: string
  /** An integer from 0 to 2^53 when inserted, incremented by one with every change. */
  readonly version: number
  /** Time of the submission. */
  readonly createdAt: number
  /** From this time the task is not found. It may be deleted once `dueAt` is null as well. */
  readonly expiresAt: number
  /** When the next step of the task is due; null if there is none. */
  readonly dueAt: number | null
  /** Until when a process holds the task's lease; 0 if none does. */
  readonly leasedUntil: number
  /**
   * The gateway's data, opaque to the store: any Unicode. As JSON text up to `sizes.jsonBytes` (20 MiB) while it holds
   * an input image, a few kilobytes afterwards.
   */
  readonly data: Json
}

/** Which due tasks to lease. */
export interface TaskClaim {
  /** The current time. */
  readonly now: number
  /** Duration of the lease in milliseconds. */
  readonly leaseMs: number
  /** Maximum number of tasks. */
  readonly limit: number
}

/** One page of an account's tasks. */
export interface TaskListOptions {
  /** The current time. */
  readonly now: number
  /** Maximum number of tasks. */
  readonly limit: number
  /** Starts after the task with this id, in the order of the list. */
  readonly after?: string
  /** By `createdAt`, then `id`. */
  readonly order: 'asc' | 'desc'
}

/** One page of the tasks of all accounts. */
export interface TaskSearch {
  /** The current time. */
  readonly now: number
  /** Maximum number of tasks. */
  readonly limit: number
  /** Starts after this task, in the order of the list. If it no longer exists, tasks of the same time may be left out. */
  readonly after?: Pick<TaskRecord, 'createdAt' | 'account' | 'id'>
}

/**
 * Where tasks are kept that outlive their request. The store keeps plain JSON and compares numbers: all times are given
 * by the gateway, so a store needs neither a clock nor a timer. `testTaskStore` of `modelhatch/testing` tests an
 * implementation against this contract.
 *
 * A task changes only through `replace` and `claim`. Each is atomic and increments `version` by one, so a writer with an
 * older version fails and must read the task again.
 */
export interface TaskStore {
  /**
   * Required. Adds the task unless the account already has one with this id. Resolves to the stored task: the given one,
   * or the existing one, unchanged. Of any number of concurrent inserts of one id, exactly one is stored. A task that
   * has expired at `task.createdAt` and whose `dueAt` is null counts as absent. Rejects when the store is full or fails;
   * a store may reject new tasks but never drops an existing one.
   */
  insert(task: TaskRecord): Promise<TaskRecord>

  /**
   * Required. The task of this account with this id, including the latest change by any process; undefined if there is
   * none or its `expiresAt` is `now` or earlier. The result is a copy: changing it does not change the store.
   */
  find(account: string, id: string, now: number): Promise<TaskRecord | undefined>

  /**
   * Required. Replaces the task if the stored version is `task.version - 1` and returns true. Otherwise, also if the
   * task does not exist, returns false and changes nothing. Of any number of concurrent replaces of one version, exactly
   * one returns true. Also works on expired tasks.
   */
  replace(task: TaskRecord): Promise<boolean>

  /**
   * Required. Leases tasks of any account whose `dueAt` and `leasedUntil` are both `now` or earlier, including expired
   * ones, earliest `dueAt` first. Sets `leasedUntil = now + leaseMs` and increments the version in one atomic step, and
   * returns the tasks as then stored. Two concurrent claims never return the same task. Recommended: also deletes tasks
   * that have expired and whose `dueAt` is null.
   */
  claim(options: TaskClaim): Promise<TaskRecord[]>

  /** Recommended. The tasks of an account that have not expired, by `createdAt` and then `id`. */
  list?(account: string, options: TaskListOptions): Promise<TaskRecord[]>

  /** Recommended. How many tasks `claim` could lease at `now`: the exact number up to `most`, otherwise `most`. */
  countDue?(now: number, most: number): Promise<number>

  /**
   * Recommended. The tasks of all accounts that have not expired, newest first; those with equal times in any order, but
   * always the same.
   */
  search?(options: TaskSearch): Promise<TaskRecord[]>

  /**
   * Recommended for a store that several machines share: the current time by its own clock, in milliseconds since the
   * epoch. The gateway reads it from time to time and derives all times from it, so that machines whose clocks differ
   * agree on leases and expiry.
   */
  now?(): Promise<number>

  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void>
}
