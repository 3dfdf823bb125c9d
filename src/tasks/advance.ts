import { GatewayError } from '../errors.ts'
import { ProviderError } from '../providers/failure.ts'
import type { VideoContext, VideoStatus } from '../providers/video.ts'
import { deleted, expired, fail, finish, push, reconcile, settle } from './finish.ts'
import { backoffMs, deploymentOf, putBack, type TaskServices, type VideoDeployment } from './services.ts'
import { recover } from './submit.ts'
import { leasedIfDue } from './stored.ts'
import { isFinal, type StoredTask, type VideoTask } from './task.ts'
import { askVendor } from './vendor-call.ts'

/** Consecutive "unknown job" responses after which a task has failed: a single one may be an error of the vendor. */
const maxMisses = 3
const lost = { code: 'lost', message: 'The provider no longer knows this video job.' }

/** Takes the lease of a task, if it is due and no other process holds it. */
export function lease(services: TaskServices, task: StoredTask): Promise<StoredTask | undefined> {
  return leasedIfDue(services, task, services.timing.leaseMs, 'removed')
}

/** Does the next step of a task whose lease this process holds. Returns the task as stored afterwards. */
export async function advance(services: TaskServices, task: StoredTask): Promise<StoredTask> {
  if (isFinal(task.data)) return task.data.settled ? push(services, task) : settle(services, task)
  if (task.data.state === 'submitting') return recover(services, task)
  const deployment = await deploymentOf(services, task.data)
  const now = await services.now()
  if (now >= task.data.deadlineAt) return expire(services, task, deployment)
  if (deployment === undefined) return later(services, task, new Error('the provider of the task is not configured'))
  let status: VideoStatus
  try {
    status = await check(services, task, deployment)
  } catch (error) {
    return later(services, task, error)
  }
  return record(services, task, status, deployment)
}

/** Asks the vendor to cancel the job, which runs on if the vendor cannot, rejects it or fails. */
async function cancel(
  services: TaskServices,
  task: StoredTask,
  deployment: VideoDeployment | undefined,
): Promise<void> {
  const { operation = null } = task.data
  const cancelling = deployment?.video.cancel?.bind(deployment.video)
  if (deployment === undefined || cancelling === undefined) return
  const call = async (context: VideoContext) => cancelling(operation, context)
  await askVendor(services, task, deployment, 'cancel', call).catch(() => undefined)
}

/** Checks the job once more at the deadline, so that a video that is ready is not discarded. */
async function expire(
  services: TaskServices,
  task: StoredTask,
  deployment: VideoDeployment | undefined,
): Promise<StoredTask> {
  const status = await (deployment && check(services, task, deployment).catch(() => undefined))
  if (status?.state === 'completed' || status?.state === 'failed') return record(services, task, status, deployment)
  const ended = await giveUp(services, task, expired)
  if (ended.data.state === 'failed' && task.data.removed !== 'asked') await cancel(services, task, deployment)
  return ended
}

/** Ends a task whose job may go on at the vendor. It is not charged, unless its owner has deleted it. */
function giveUp(services: TaskServices, task: StoredTask, error: NonNullable<VideoTask['error']>): Promise<StoredTask> {
  return finish(services, task, task.data.removed === undefined ? { state: 'failed', error } : deleted)
}

function check(services: TaskServices, task: StoredTask, deployment: VideoDeployment): Promise<VideoStatus> {
  const { operation = null } = task.data
  return askVendor(services, task, deployment, 'check', (context) => deployment.video.check(operation, context))
}

async function record(
  services: TaskServices,
  task: StoredTask,
  status: VideoStatus,
  deployment: VideoDeployment | undefined,
): Promise<StoredTask> {
  switch (status.state) {
    case 'completed': {
      const { url, seconds, operation } = status
      const reported = {
        ...(url !== undefined && { url }),
        ...(seconds !== undefined && { seconds }),
        ...(operation !== undefined && { operation }),
      }
      if (task.data.removed !== undefined) return finish(services, task, { ...deleted, ...reported })
      const stored = await finish(services, task, { state: 'completed', progress: 100, ...reported })
      // The task was cancelled meanwhile and stays failed, although the vendor has made the video.
      if (stored.data.state === 'failed')
        reconcile(services, { ...stored, data: { ...stored.data, ...reported } }, 'late_result')
      return stored
    }
    case 'failed':
      return fail(services, task, status.code ?? 'generation_failed', status.error)
    default: {
      const asks = task.data.removed === 'new'
      if (asks) await cancel(services, task, deployment)
      const dueAt = (await services.now()) + services.intervalMs(task.data.request.duration)
      const { state, progress, operation } = status
      const reported = { ...(progress !== undefined && { progress }), ...(operation !== undefined && { operation }) }
      // Clients never see a task return from `processing` to `pending`, even if the vendor queues it again.
      const forward = task.data.state === 'processing' ? 'processing' : state
      const data = { state: forward, misses: 0, faults: 0, ...reported, ...(asks && { removed: 'asked' as const }) }
      return putBack(services, task, data, dueAt)
    }
  }
}

/** Schedules the next check after one that failed or that reported an unknown job. */
async function later(services: TaskServices, task: StoredTask, error: unknown): Promise<StoredTask> {
  const intervalMs = services.intervalMs(task.data.request.duration)
  const unknown = GatewayError.is(error) && error.code === 'not_found'
  const misses = unknown ? task.data.misses + 1 : task.data.misses
  if (misses >= maxMisses) return giveUp(services, task, lost)
  const faults = task.data.faults + 1
  const vendorWaitMs = error instanceof ProviderError ? error.vendorWaitMs : undefined
  const waitMs = Math.max(vendorWaitMs ?? 0, unknown ? intervalMs : backoffMs(faults - 1, intervalMs))
  const dueAt = (await services.now()) + waitMs
  return putBack(services, task, { misses, faults }, dueAt)
}
