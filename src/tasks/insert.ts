/** Tasks whose id follows from an idempotency key, so that a later request may find one that has just ended. */
import { createHash, randomBytes } from 'node:crypto'
import { GatewayError } from '../errors.ts'
import type { Cancellation } from '../http/cancellation.ts'
import { pause } from '../http/deadline.ts'
import { fromRecord, toRecord, type Stored, type TaskKeeping } from './stored.ts'

/** Milliseconds by which the times of two processes may differ. */
const skewMs = 1_000
/** Milliseconds between two looks at a task whose submission is under way. */
const lookMs = 100

/** Milliseconds from its beginning for which a repeated request waits for a submission. */
export const decisionMs = 30_000

/** An id of 192 random bits. */
export function newTaskId(prefix: string): string {
  return prefix + randomBytes(24).toString('base64url')
}

/** An id that follows from account, `kind` and idempotency key, so that a retry finds the same task; without a key a new one. */
export function taskId(prefix: string, account: string, kind: string, key: string | undefined): string {
  if (key === undefined) return newTaskId(prefix)
  const text = JSON.stringify([account, kind, key])
  return prefix + createHash('sha256').update(text).digest('base64url').slice(0, 32)
}

/** Whether a text can be the id of a task: stores fail on some others, and would seem to be down. */
export function isTaskId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,80}$/.test(text)
}

/** The task that an earlier request with the same key has made, unless it is refused or deleted. */
export async function earlierTask<Data>(
  { store, now }: TaskKeeping,
  account: string,
  id: string,
): Promise<Stored<Data> | undefined> {
  const record = await store.find(account, id, (await now()) + skewMs)
  return record && fromRecord(record)
}

/**
 * The task of an earlier request, once its submission has ended: the vendor may refuse it. Undefined if that is refused and
 * not found any more. Waits no longer than `until` says of the task, and for its client.
 */
export async function decided<Data>(
  keeping: TaskKeeping,
  task: Stored<Data>,
  until: (task: Stored<Data>) => number,
  client: Cancellation,
): Promise<Stored<Data> | undefined> {
  let current: Stored<Data> | undefined = task
  while (
    current !== undefined &&
    (await keeping.now()) < Math.min(until(current), current.leasedUntil) &&
    !client.aborted
  ) {
    await pause(lookMs, client)
    current = await earlierTask(keeping, task.account, task.id)
  }
  return current
}

/** Throws a 409 if another request than that with this digest has made a task. */
export function requireSame({ data }: Stored<{ readonly digest: string }>, digest: string): void {
  if (data.digest === digest) return
  const message = 'This Idempotency-Key was used for another request. Use a new key for a new request.'
  throw new GatewayError('conflict', { message, shouldRetry: false })
}

/**
 * Adds a task, and resolves to it as stored; or to the one that is there, unless that is refused or deleted meanwhile. Sets its
 * first version by its time, so that a process that still has a task of this id from before cannot replace this one.
 */
export async function insertTask<Data>({ store, now }: TaskKeeping, task: Stored<Data>): Promise<Stored<Data>> {
  const record = toRecord(task)
  for (let createdAt = task.createdAt; ;) {
    const stored = await store.insert({ ...record, createdAt, version: Math.floor(createdAt) })
    const at = await now()
    if (stored.dueAt !== null || stored.expiresAt > at + skewMs) return fromRecord(stored)
    createdAt = Math.max(at, stored.expiresAt)
  }
}
