import type { Json } from '../wire/json.ts'
import { putBack, save, type TaskEvent, type TaskServices } from './services.ts'
import { changed } from './stored.ts'
import { withoutPictures, type StoredTask, type VideoTask } from './task.ts'
import { nextTryMs } from '../http/signed-webhook.ts'

type TaskOutcome = Pick<VideoTask, 'state'> & Partial<VideoTask>

/**
 * Makes the task final, which exactly one process can do, and settles it. Returns the stored task, even if another
 * process ended it. Settlement and notification are at-least-once: the task stays due until both have succeeded.
 */
export async function finish(services: TaskServices, task: StoredTask, ending: TaskOutcome): Promise<StoredTask> {
  const now = await services.now()
  const record = { dueAt: now, leasedUntil: now + services.timing.leaseMs }
  const end = { ...ending, request: withoutPictures(task.data.request), finishedAt: now, settled: false }
  const { won, task: stored } = await save(services, changed(task, end, record))
  return won ? settle(services, stored) : stored
}

export function fail(services: TaskServices, task: StoredTask, code: string, message: string): Promise<StoredTask> {
  return finish(services, task, { state: 'failed', error: { code, message } })
}

/** Why a task has failed that was not finished by its deadline. */
export const expired = { code: 'expired', message: 'Cancelled: not finished in time.' }

/**
 * The end of a task that its owner deleted after the vendor had accepted it: charged, because the vendor charges for its job
 * unless it reports that it failed.
 */
export const deleted: TaskOutcome = {
  state: 'failed',
  error: { code: 'cancelled', message: 'Deleted by its owner.' },
  charged: true,
}

/** Settles a final task and notifies the host. Requires the lease. Rescheduled if the ledger fails. */
export async function settle(services: TaskServices, task: StoredTask): Promise<StoredTask> {
  try {
    await services.billing.end(task)
  } catch {
    const dueAt = (await services.now()) + services.timing.leaseMs
    return putBack(services, task, { faults: task.data.faults + 1 }, dueAt)
  }
  services.publish({ type: task.data.state === 'completed' ? 'completed' : 'failed', task })
  if (task.data.unclear !== undefined) reconcile(services, task, task.data.unclear)
  if (services.push === undefined) {
    return putBack(services, task, { settled: true }, null)
  }
  // Left to the next sweep: a slow webhook must not delay the request that found the task finished.
  return putBack(services, task, { settled: true, pushFailures: 0 }, await services.now())
}

/** Sends the webhook of a settled task. Requires the lease. */
export async function push(services: TaskServices, task: StoredTask): Promise<StoredTask> {
  const { pushFailures: failed = 0, ...data } = task.data
  const done: StoredTask = { ...task, version: task.version + 1, dueAt: null, leasedUntil: 0, data }
  try {
    await services.push?.(task)
    return (await save(services, done)).task
  } catch {
    const waitMs = nextTryMs(failed + 1)
    if (waitMs === undefined) return (await save(services, done)).task
    const dueAt = (await services.now()) + waitMs
    return putBack(services, task, { pushFailures: failed + 1 }, dueAt)
  }
}

/** Reports to the host that the vendor's state and the task's may differ. */
export function reconcile(
  services: TaskServices,
  task: StoredTask,
  reason: NonNullable<TaskEvent['reason']>,
  operation?: Json,
): void {
  const known = operation === undefined ? task : { ...task, data: { ...task.data, operation } }
  services.publish({ type: 'reconcile', reason, task: known })
}
