/**
 * The end of a task: one change of state that only one can make; then the money and the news, which may be told twice
 * but never not at all, because the task stays due until they were.
 */
import type { Json } from '../wire/json.ts'
import { save, type TaskEvent, type TaskParts } from './parts.ts'
import { changed, withoutPictures, type StoredTask, type VideoTask } from './task.ts'
import { nextTryMs } from './webhook.ts'

type Ending = Pick<VideoTask, 'state'> & Partial<VideoTask>

/** Makes the task final and settles it. Gives the stored task, whoever has ended it. */
export async function finish(parts: TaskParts, task: StoredTask, ending: Ending): Promise<StoredTask> {
  const now = await parts.now()
  const record = { dueAt: now, leasedUntil: now + parts.timing.leaseMs }
  const end = { ...ending, request: withoutPictures(task.data.request), finishedAt: now, settled: false }
  const { won, task: stored } = await save(parts, changed(task, end, record))
  return won ? settle(parts, stored) : stored
}

export function fail(parts: TaskParts, task: StoredTask, code: string, message: string): Promise<StoredTask> {
  return finish(parts, task, { state: 'failed', error: { code, message } })
}

/** Tells ledger and host how a final task ended. Under the lease; tried again later if the ledger does not answer. */
export async function settle(parts: TaskParts, task: StoredTask): Promise<StoredTask> {
  try {
    await parts.billing.end(task)
  } catch {
    const dueAt = (await parts.now()) + parts.timing.leaseMs
    return (await save(parts, changed(task, { faults: task.data.faults + 1 }, { dueAt, leasedUntil: 0 }))).task
  }
  parts.publish({ type: task.data.state === 'completed' ? 'completed' : 'failed', task })
  if (task.data.unclear !== undefined) reconcile(parts, task, task.data.unclear)
  if (parts.push === undefined) {
    return (await save(parts, changed(task, { settled: true }, { dueAt: null, leasedUntil: 0 }))).task
  }
  // Whoever sweeps next tells the webhook: it must not hold up the client that has just asked.
  const due = { dueAt: await parts.now(), leasedUntil: 0 }
  return (await save(parts, changed(task, { settled: true, untold: 0 }, due))).task
}

/** Tells the webhook of a settled task. Under the lease. */
export async function push(parts: TaskParts, task: StoredTask): Promise<StoredTask> {
  const { untold: failed = 0, ...told } = task.data
  const over: StoredTask = { ...task, version: task.version + 1, dueAt: null, leasedUntil: 0, data: told }
  try {
    await parts.push?.(task)
    return (await save(parts, over)).task
  } catch {
    const waitMs = nextTryMs(failed + 1)
    if (waitMs === undefined) return (await save(parts, over)).task
    const dueAt = (await parts.now()) + waitMs
    return (await save(parts, changed(task, { untold: failed + 1 }, { dueAt, leasedUntil: 0 }))).task
  }
}

export function reconcile(
  parts: TaskParts,
  task: StoredTask,
  reason: NonNullable<TaskEvent['reason']>,
  operation?: Json,
): void {
  const known = operation === undefined ? task : { ...task, data: { ...task.data, operation } }
  parts.publish({ type: 'reconcile', reason, task: known })
}
