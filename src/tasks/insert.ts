/** Tasks whose id follows from an idempotency key, so that a later request may find one that has just ended. */
import type { TaskRecord, TaskStore } from './contract.ts'

/** Milliseconds by which the times of two processes may differ. */
const skewMs = 1_000

interface Stored {
  readonly store: TaskStore
  readonly now: () => Promise<number>
}

/** The task that an earlier request with the same key has made, unless it is refused or deleted. */
export async function earlierTask(
  { store, now }: Stored,
  account: string,
  id: string,
): Promise<TaskRecord | undefined> {
  return store.find(account, id, (await now()) + skewMs)
}

/**
 * Adds a task, and resolves to it as stored; or to the one that is there, unless that is refused or deleted meanwhile. Sets its
 * first version by its time, so that a process that still has a task of this id from before cannot replace this one.
 */
export async function insertTask({ store, now }: Stored, task: TaskRecord): Promise<TaskRecord> {
  for (let createdAt = task.createdAt; ;) {
    const stored = await store.insert({ ...task, createdAt, version: Math.floor(createdAt) })
    const at = await now()
    if (stored.dueAt !== null || stored.expiresAt > at + skewMs) return stored
    createdAt = Math.max(at, stored.expiresAt)
  }
}
