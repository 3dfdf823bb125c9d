/**
 * Submission of a task to a vendor. A crash at any moment must neither lose the task nor charge it twice. Therefore the
 * intent to submit is stored before the vendor is called, and the outcome replaces it by compare-and-set. A process that
 * finds an intent with an expired lease recovers it in the way the vendor supports (`VideoProvider.submit`).
 */
import { GatewayError } from '../errors.ts'
import type { VideoContext } from '../providers/video.ts'
import type { Json } from '../wire/json.ts'
import { fail, finish, reconcile } from './finish.ts'
import { save, wasNotBegun, deploymentOf, type TaskParts, type VideoDeployment } from './services.ts'
import { changed, withoutPictures, type StoredTask } from './task.ts'
import { askVendor } from './vendor.ts'

/** The lease of an intent: the time its process may wait for the vendor, plus the time until the vendor can find the job. */
export function intentLeaseMs(parts: TaskParts, video: VideoDeployment['video']): number {
  const acceptMs = video.submit === 'lookup' ? (video.acceptBoundMs ?? 60_000) : 0
  return parts.timing.startMs + acceptMs + 5_000
}

/**
 * The lease of a hold before its task is stored: long enough for another process to find the intent and extend the hold,
 * but short, because a process that dies before storing the intent leaves a hold that nothing releases earlier.
 */
export function unstoredMs(parts: TaskParts, video: VideoDeployment['video']): number {
  return intentLeaseMs(parts, video) + 60_000
}

/** Extends the hold to the task's deadline before the vendor is called. If the ledger rejects it, fails the task and throws. */
export async function keepOrFail(parts: TaskParts, task: StoredTask): Promise<void> {
  try {
    await parts.billing.keep(task)
  } catch (error) {
    const { code, message, param } = GatewayError.from(error)
    await finish(parts, task, { state: 'failed', error: { code, message }, refusal: { code, message, param } })
    throw error
  }
}

/**
 * Submits a task whose intent is stored and leased to this process. Resolves to the stored task. If no vendor accepts
 * it, throws the error for the client.
 */
export async function submit(
  parts: TaskParts,
  task: StoredTask,
  deployments: readonly VideoDeployment[],
): Promise<StoredTask> {
  let current = task
  let failure: unknown
  for (const deployment of deployments) {
    if (current.data.removed !== undefined) return cancelled(parts, current)
    if (current.data.provider !== deployment.provider || current.data.providerModel !== deployment.model) {
      // The deployment is stored before the call, because recovery after a crash depends on the vendor.
      const lease = (await parts.now()) + intentLeaseMs(parts, deployment.video)
      const named = { provider: deployment.provider, providerModel: deployment.model }
      const saved = await save(parts, changed(current, named, { dueAt: lease, leasedUntil: lease }))
      if (!saved.won) return saved.task
      current = saved.task
    }
    try {
      return await accepted(parts, current, await start(parts, current, deployment))
    } catch (error) {
      if (!wasNotBegun(error)) return unclear(parts, current, deployment, error)
      failure = error
      if (GatewayError.from(error).status < 500 && GatewayError.from(error).status !== 429) break
    }
  }
  const { code, message, param } = GatewayError.from(failure)
  await finish(parts, current, { state: 'failed', error: { code, message }, refusal: { code, message, param } })
  throw failure
}

/** Recovers an intent whose process did not finish the submission. Requires the lease. */
export async function recover(parts: TaskParts, task: StoredTask): Promise<StoredTask> {
  const deployment = await deploymentOf(parts, task.data)
  const now = await parts.now()
  if (deployment === undefined) {
    if (task.data.provider === undefined)
      return fail(parts, task, 'submission_failed', 'The video was never submitted. Submit it again.')
    return postponed(parts, task, now)
  }
  const { video } = deployment
  if (video.submit === 'none') return giveUp(parts, task)
  try {
    await holdAgain(parts, task, unstoredMs(parts, video))
    if (video.submit === 'lookup') {
      const look = async (context: VideoContext) => video.lookup?.(task.id, context)
      const operation = await askVendor(parts, task, deployment, 'lookup', look)
      if (operation !== undefined) return await accepted(parts, task, operation)
      if (task.data.removed !== undefined) return await cancelled(parts, task)
    }
    if (now >= task.data.deadlineAt) return await tooLate(parts, task)
    // Renews the lease: no other process may recover the intent before the vendor has responded.
    const lease = now + intentLeaseMs(parts, video)
    const saved = await save(parts, changed(task, {}, { dueAt: lease, leasedUntil: lease }))
    if (!saved.won) return saved.task
    return await resubmit(parts, saved.task, deployment)
  } catch {
    return postponed(parts, task, now)
  }
}

/** Continues without a hold if the balance is insufficient: the vendor may already have the job, which is then charged. */
async function holdAgain(parts: TaskParts, task: StoredTask, leaseMs: number): Promise<void> {
  try {
    await parts.billing.hold(task, leaseMs)
  } catch (error) {
    if (GatewayError.from(error).code === 'insufficient_quota') return
    throw error
  }
  await parts.billing.keep(task)
}

async function resubmit(parts: TaskParts, task: StoredTask, deployment: VideoDeployment): Promise<StoredTask> {
  try {
    return await accepted(parts, task, await start(parts, task, deployment))
  } catch (error) {
    if (!wasNotBegun(error)) return unclear(parts, task, deployment, error)
    const { code, message, status } = GatewayError.from(error)
    if (status >= 500 || status === 429) return postponed(parts, task, await parts.now())
    return fail(parts, task, code, message)
  }
}

function start(parts: TaskParts, task: StoredTask, deployment: VideoDeployment): Promise<Json> {
  const { video, model, openModel, set } = deployment
  const request = { ...task.data.request, ...set }
  const call = (context: VideoContext) => video.start({ request, model, openModel, token: task.id, ...context })
  return askVendor(parts, task, deployment, 'submit', call)
}

/** Records the vendor's job. If the intent was recovered meanwhile, reports this job as an orphan. */
async function accepted(parts: TaskParts, task: StoredTask, operation: Json): Promise<StoredTask> {
  const dueAt = (await parts.now()) + parts.intervalMs(task.data.request.duration)
  const request = withoutPictures(task.data.request)
  const next = changed(task, { state: 'pending', request, operation, faults: 0 }, { dueAt, leasedUntil: 0 })
  const { won, task: stored } = await save(parts, next)
  if (!won && JSON.stringify(stored.data.operation) !== JSON.stringify(operation))
    reconcile(parts, stored, 'orphan', operation)
  return stored
}

/** Ends a task that its owner deleted before any vendor accepted it. */
function cancelled(parts: TaskParts, task: StoredTask): Promise<StoredTask> {
  return fail(parts, task, 'cancelled', 'Deleted by its owner.')
}

/** Handles a submission of which it is unknown whether the vendor accepted it. */
async function unclear(
  parts: TaskParts,
  task: StoredTask,
  { video }: VideoDeployment,
  error: unknown,
): Promise<StoredTask> {
  if (video.submit === 'none') {
    await giveUp(parts, task)
    throw new GatewayError('service_unavailable', {
      message: `${unknownMessage} Submit it again if you still want it.`,
      shouldRetry: false,
      cause: error,
    })
  }
  const now = await parts.now()
  const dueAt = video.submit === 'lookup' ? now + (video.acceptBoundMs ?? 60_000) : now + 1_000
  return (await save(parts, changed(task, { faults: task.data.faults + 1 }, { dueAt, leasedUntil: 0 }))).task
}

const unknownMessage = 'It is not known whether the video was submitted. It was not charged.'

function giveUp(parts: TaskParts, task: StoredTask): Promise<StoredTask> {
  const error = { code: 'submission_unknown', message: unknownMessage }
  return finish(parts, task, { state: 'failed', error, unclear: 'submission_unknown' })
}

/** Fails a task at its deadline although it is unknown whether the vendor has the job. */
function tooLate(parts: TaskParts, task: StoredTask): Promise<StoredTask> {
  const error = { code: 'expired', message: 'Cancelled: not finished in time.' }
  return finish(parts, task, { state: 'failed', error, unclear: 'submission_unknown' })
}

async function postponed(parts: TaskParts, task: StoredTask, now: number): Promise<StoredTask> {
  if (now >= task.data.deadlineAt) return tooLate(parts, task)
  const faults = task.data.faults + 1
  const dueAt = now + Math.min(1_000 * 2 ** Math.min(faults, 6), 60_000)
  return (await save(parts, changed(task, { faults }, { dueAt, leasedUntil: 0 }))).task
}
