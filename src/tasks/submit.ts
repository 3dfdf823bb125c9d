/**
 * Submission of a task to a vendor. A crash at any moment must neither lose the task nor charge it twice. Therefore the
 * intent to submit is stored before the vendor is called, and the outcome replaces it by compare-and-set. A process that
 * finds an intent with an expired lease recovers it in the way the vendor supports (`VideoProvider.submit`).
 */
import { GatewayError } from '../errors.ts'
import type { VideoContext } from '../providers/video.ts'
import type { Json } from '../wire/json.ts'
import { expired, fail, finish, reconcile } from './finish.ts'
import {
  deploymentOf,
  isPassing,
  putBack,
  save,
  wasNotBegun,
  type TaskServices,
  type VideoDeployment,
} from './services.ts'
import { changed } from './stored.ts'
import { withoutPictures, type StoredTask, type VideoTask } from './task.ts'
import { askVendor } from './vendor-call.ts'

/** The lease of an intent: the time its process may wait for the vendor, plus the time until the vendor can find the job. */
export function intentLeaseMs(services: TaskServices, video: VideoDeployment['video']): number {
  const acceptMs = video.submit === 'lookup' ? (video.acceptBoundMs ?? 60_000) : 0
  return services.timing.startMs + acceptMs + 5_000
}

/**
 * The lease of a hold before its task is stored: long enough for another process to find the intent and extend the hold,
 * but short, because a process that dies before storing the intent leaves a hold that nothing releases earlier.
 */
export function unstoredMs(services: TaskServices, video: VideoDeployment['video']): number {
  return intentLeaseMs(services, video) + 60_000
}

/** Extends the hold to the task's deadline before the vendor is called. If the ledger rejects it, fails the task and throws. */
export async function keepOrFail(services: TaskServices, task: StoredTask): Promise<void> {
  try {
    await services.billing.keep(task)
  } catch (error) {
    return refuse(services, task, error)
  }
}

/**
 * Submits a task whose intent is stored and leased to this process. Resolves to the stored task. If no vendor accepts
 * it, throws the error for the client.
 */
export async function submit(
  services: TaskServices,
  task: StoredTask,
  deployments: readonly VideoDeployment[],
): Promise<StoredTask> {
  let current = task
  let failure: unknown
  for (const deployment of deployments) {
    if (current.data.removed !== undefined) return cancelled(services, current)
    if (current.data.provider !== deployment.provider || current.data.providerModel !== deployment.model) {
      // The deployment is stored before the call, because recovery after a crash depends on the vendor.
      const lease = (await services.now()) + intentLeaseMs(services, deployment.video)
      const named = { provider: deployment.provider, providerModel: deployment.model }
      const saved = await save(services, changed(current, named, { dueAt: lease, leasedUntil: lease }))
      if (!saved.won) return saved.task
      current = saved.task
    }
    try {
      return await accepted(services, current, await start(services, current, deployment))
    } catch (error) {
      if (!wasNotBegun(error)) return unclear(services, current, deployment, error)
      failure = error
      if (!isPassing(error)) break
    }
  }
  return refuse(services, current, failure)
}

async function refuse(services: TaskServices, task: StoredTask, failure: unknown): Promise<never> {
  const { code, message, param } = GatewayError.from(failure)
  await finish(services, task, { state: 'failed', error: { code, message }, refusal: { code, message, param } })
  throw failure
}

/** Recovers an intent whose process did not finish the submission. Requires the lease. */
export async function recover(services: TaskServices, task: StoredTask): Promise<StoredTask> {
  const deployment = await deploymentOf(services, task.data)
  const now = await services.now()
  if (deployment === undefined) {
    if (task.data.provider === undefined)
      return fail(services, task, 'submission_failed', 'The video was never submitted. Submit it again.')
    return postponed(services, task, now)
  }
  const { video } = deployment
  if (video.submit === 'none') return giveUp(services, task)
  try {
    await holdAgain(services, task, unstoredMs(services, video))
    if (video.submit === 'lookup') {
      const look = async (context: VideoContext) => video.lookup?.(task.id, context)
      const operation = await askVendor(services, task, deployment, 'lookup', look)
      if (operation !== undefined) return await accepted(services, task, operation)
      if (task.data.removed !== undefined) return await cancelled(services, task)
    }
    if (now >= task.data.deadlineAt) return await giveUp(services, task, expired)
    // Renews the lease: no other process may recover the intent before the vendor has responded.
    const lease = now + intentLeaseMs(services, video)
    const saved = await save(services, changed(task, {}, { dueAt: lease, leasedUntil: lease }))
    if (!saved.won) return saved.task
    return await resubmit(services, saved.task, deployment)
  } catch {
    return postponed(services, task, now)
  }
}

/** Continues without a hold if the balance is insufficient: the vendor may already have the job, which is then charged. */
async function holdAgain(services: TaskServices, task: StoredTask, leaseMs: number): Promise<void> {
  try {
    await services.billing.hold(task, leaseMs)
  } catch (error) {
    if (GatewayError.from(error).code === 'insufficient_quota') return
    throw error
  }
  await services.billing.keep(task)
}

async function resubmit(services: TaskServices, task: StoredTask, deployment: VideoDeployment): Promise<StoredTask> {
  try {
    return await accepted(services, task, await start(services, task, deployment))
  } catch (error) {
    if (!wasNotBegun(error)) return unclear(services, task, deployment, error)
    const { code, message } = GatewayError.from(error)
    if (isPassing(error)) return postponed(services, task, await services.now())
    return fail(services, task, code, message)
  }
}

function start(services: TaskServices, task: StoredTask, deployment: VideoDeployment): Promise<Json> {
  const { video, model, openModel, set } = deployment
  const request = { ...task.data.request, ...set }
  const call = (context: VideoContext) => video.start({ request, model, openModel, token: task.id, ...context })
  return askVendor(services, task, deployment, 'submit', call)
}

/** Records the vendor's job. If the intent was recovered meanwhile, reports this job as an orphan. */
async function accepted(services: TaskServices, task: StoredTask, operation: Json): Promise<StoredTask> {
  const dueAt = (await services.now()) + services.intervalMs(task.data.request.duration)
  const request = withoutPictures(task.data.request)
  const next = changed(task, { state: 'pending', request, operation, faults: 0 }, { dueAt, leasedUntil: 0 })
  const { won, task: stored } = await save(services, next)
  if (!won && JSON.stringify(stored.data.operation) !== JSON.stringify(operation))
    reconcile(services, stored, 'orphan', operation)
  return stored
}

/** Ends a task that its owner deleted before any vendor accepted it. */
function cancelled(services: TaskServices, task: StoredTask): Promise<StoredTask> {
  return fail(services, task, 'cancelled', 'Deleted by its owner.')
}

/** Handles a submission of which it is unknown whether the vendor accepted it. */
async function unclear(
  services: TaskServices,
  task: StoredTask,
  { video }: VideoDeployment,
  error: unknown,
): Promise<StoredTask> {
  if (video.submit === 'none') {
    await giveUp(services, task)
    throw new GatewayError('service_unavailable', {
      message: `${unknownMessage} Submit it again if you still want it.`,
      shouldRetry: false,
      cause: error,
    })
  }
  const now = await services.now()
  const dueAt = video.submit === 'lookup' ? now + (video.acceptBoundMs ?? 60_000) : now + 1_000
  return putBack(services, task, { faults: task.data.faults + 1 }, dueAt)
}

const unknownMessage = 'It is not known whether the video was submitted. It was not charged.'

/** Fails a task although it is unknown whether the vendor has the job. */
function giveUp(
  services: TaskServices,
  task: StoredTask,
  error: NonNullable<VideoTask['error']> = { code: 'submission_unknown', message: unknownMessage },
): Promise<StoredTask> {
  return finish(services, task, { state: 'failed', error, unclear: 'submission_unknown' })
}

async function postponed(services: TaskServices, task: StoredTask, now: number): Promise<StoredTask> {
  if (now >= task.data.deadlineAt) return giveUp(services, task, expired)
  const faults = task.data.faults + 1
  const dueAt = now + Math.min(1_000 * 2 ** Math.min(faults, 6), 60_000)
  return putBack(services, task, { faults }, dueAt)
}
