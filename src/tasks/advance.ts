/** One step of a task that is leased to us: whatever is due, by the state it is in. */
import { GatewayError } from '../errors.ts'
import { ProviderError } from '../providers/failure.ts'
import type { VideoStatus } from '../providers/video.ts'
import { fail, finish, push, reconcile, settle } from './finish.ts'
import { ask, backoffMs, save, workerOf, type TaskParts, type VideoDeployment } from './parts.ts'
import { recover } from './submit.ts'
import { changed, isFinal, type StoredTask } from './task.ts'

/** So many answers "unknown job" in a row are believed. */
const missesMeant = 3

/** Takes the lease of a task that is due; undefined when it is not due, or somebody else has it. */
export async function lease(parts: TaskParts, task: StoredTask): Promise<StoredTask | undefined> {
  const now = await parts.now()
  if (task.dueAt === null || task.dueAt > now || task.leasedUntil > now) return undefined
  const { won, task: leased } = await save(parts, changed(task, {}, { leasedUntil: now + parts.timing.leaseMs }))
  return won ? leased : undefined
}

/** Gives the task as it is stored afterwards. */
export async function advance(parts: TaskParts, task: StoredTask): Promise<StoredTask> {
  if (isFinal(task.data)) return task.data.settled ? push(parts, task) : settle(parts, task)
  if (task.data.state === 'submitting') return recover(parts, task)
  const deployment = await workerOf(parts, task.data)
  const now = await parts.now()
  if (now >= task.data.deadlineAt) return expire(parts, task, deployment)
  if (deployment === undefined) return later(parts, task, new Error('the provider of the task is not configured'))
  let status: VideoStatus
  try {
    status = await check(parts, task, deployment)
  } catch (error) {
    return later(parts, task, error)
  }
  return record(parts, task, status)
}

/** Ends a task before its time, on behalf of its owner or because it took too long. The vendor is told if it can be. */
export async function cancel(parts: TaskParts, task: StoredTask, code: string, message: string): Promise<StoredTask> {
  const deployment = await workerOf(parts, task.data)
  const failed = await fail(parts, task, code, message)
  const { operation } = task.data
  if (failed.data.error?.code === code && operation !== undefined) {
    // The task has ended whatever the vendor says; only a vendor that cannot be told is worth a word.
    await ask(parts.timing.checkMs, async (signal) => deployment?.video.cancel?.(operation, { signal })).catch(
      () => undefined,
    )
  }
  return failed
}

/** At the deadline the vendor is asked once more: a video that is ready is worth more than a cancelled task. */
async function expire(
  parts: TaskParts,
  task: StoredTask,
  deployment: VideoDeployment | undefined,
): Promise<StoredTask> {
  const status = await (deployment && check(parts, task, deployment).catch(() => undefined))
  if (status?.state === 'completed' || status?.state === 'failed') return record(parts, task, status)
  return cancel(parts, task, 'expired', 'Cancelled: not finished in time.')
}

function check(parts: TaskParts, task: StoredTask, { video }: VideoDeployment): Promise<VideoStatus> {
  return ask(parts.timing.checkMs, (signal) => video.check(task.data.operation ?? null, { signal }))
}

async function record(parts: TaskParts, task: StoredTask, status: VideoStatus): Promise<StoredTask> {
  switch (status.state) {
    case 'completed': {
      const { url, seconds, operation } = status
      const told = {
        ...(url !== undefined && { url }),
        ...(seconds !== undefined && { seconds }),
        ...(operation !== undefined && { operation }),
      }
      const stored = await finish(parts, task, { state: 'completed', progress: 100, ...told })
      // Somebody cancelled it while the vendor finished it: the end stands, but the result was made.
      if (stored.data.state === 'failed')
        reconcile(parts, { ...stored, data: { ...stored.data, ...told } }, 'late_result')
      return stored
    }
    case 'failed':
      return fail(parts, task, status.code ?? 'generation_failed', status.error)
    default: {
      const dueAt = (await parts.now()) + parts.intervalMs(task.data.request.duration)
      const { state, progress, operation } = status
      const told = { ...(progress !== undefined && { progress }), ...(operation !== undefined && { operation }) }
      // A vendor that goes back to its queue does not take the client back with it.
      const forward = task.data.state === 'processing' ? 'processing' : state
      return (
        await save(parts, changed(task, { state: forward, misses: 0, faults: 0, ...told }, { dueAt, leasedUntil: 0 }))
      ).task
    }
  }
}

/** The vendor could not be asked, or does not know the job. */
async function later(parts: TaskParts, task: StoredTask, error: unknown): Promise<StoredTask> {
  const intervalMs = parts.intervalMs(task.data.request.duration)
  const unknown = GatewayError.is(error) && error.code === 'not_found'
  const misses = unknown ? task.data.misses + 1 : task.data.misses
  if (misses >= missesMeant) return fail(parts, task, 'lost', 'The provider no longer knows this video job.')
  const faults = task.data.faults + 1
  const asked = error instanceof ProviderError ? error.vendorWaitMs : undefined
  const dueAt = (await parts.now()) + Math.max(asked ?? 0, unknown ? intervalMs : backoffMs(faults - 1, intervalMs))
  return (await save(parts, changed(task, { misses, faults }, { dueAt, leasedUntil: 0 }))).task
}
