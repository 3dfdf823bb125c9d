import { ProviderError } from '../providers/failure.ts'
import type { ObservedAttempt } from '../observe/contract.ts'
import type { AttemptWatch } from '../observe/watch.ts'
import type { VideoProvider } from '../providers/video.ts'
import { GatewayError } from '../errors.ts'
import { within } from '../http/deadline.ts'
import { changed, saved, type Saved, type TaskKeeping } from './stored.ts'
import type { StoredTask, VideoTask } from './task.ts'

/** Charges for tasks. Every method is idempotent: it may be called again after a crash. */
export interface VideoBilling {
  /**
   * Holds the maximum cost of the task for `leaseMs` and returns what is stored with the task: the amount, the caps that count
   * it, and the factor on prices. Renews a hold that has expired. Throws `insufficient_quota`.
   */
  hold(task: StoredTask, leaseMs: number): Promise<Pick<VideoTask, 'held' | 'counted' | 'multiplier'>>
  /** Extends the hold of a stored task to its deadline. */
  keep(task: StoredTask): Promise<void>
  /** Ends the hold: settles a completed task, or one that is charged although it failed, and releases any other. */
  end(task: StoredTask): Promise<void>
}

/** A change of a task, as passed to `hooks.task`. A `reconcile` event needs attention: the vendor may have an unowned job. */
export interface TaskEvent {
  /** What happened. `reconcile`: the host should compare the task with the vendor, see `reason`. */
  readonly type: 'created' | 'completed' | 'failed' | 'reconcile'
  /**
   * Only of a `reconcile` event. `submission_unknown`: the vendor may be working on a job whose task has failed.
   * `orphan`: the vendor is working on the job `operation`, which no task refers to. `late_result`: the job finished
   * after its task was cancelled.
   */
  readonly reason?: 'submission_unknown' | 'orphan' | 'late_result'
  /** The task as stored, after the change. */
  readonly task: StoredTask
}

/** A deployment that makes videos. */
export interface VideoDeployment {
  readonly provider: string
  readonly model: string
  /** See `Provider.origin`. */
  readonly origin?: string | undefined
  /** See `VideoCall.openModel`. */
  readonly openModel: boolean
  readonly video: VideoProvider
  /** Fields of the request that the model's options fix. */
  readonly set?: Readonly<Record<string, unknown>> | undefined
}

/** What the steps of a task depend on. */
export interface TaskServices extends TaskKeeping {
  /** The deployments of a model that make videos, in the order in which to try them. */
  readonly deployments: (model: string) => Promise<readonly VideoDeployment[]>
  readonly billing: VideoBilling
  readonly publish: (event: TaskEvent) => void
  /** Tells telemetry that a call to a vendor begins. Undefined if nothing listens. */
  readonly attempt?: (attempt: ObservedAttempt) => AttemptWatch | undefined
  /** Sends the webhook of a finished task. Rejects if delivery must be retried. Absent if no webhooks are configured. */
  readonly push?: (task: StoredTask) => Promise<void>
  /** Milliseconds between two checks of a job, by the requested seconds of video. */
  readonly intervalMs: (seconds: number) => number
  readonly timing: TaskTiming
}

/** All in milliseconds. */
export interface TaskTiming {
  /** Timeout of a submission to the vendor. Default 60,000. */
  readonly startMs: number
  /** Timeout of a check of a job. Default 20,000. */
  readonly checkMs: number
  /** Lease of a task for one step; longer than `checkMs`. Default 30,000. */
  readonly leaseMs: number
  /** From creation to automatic cancellation. Default 7,200,000 (two hours). */
  readonly deadlineMs: number
  /** From creation until the id expires: 24 hours. */
  readonly lifeMs: number
}

export const defaultTiming: TaskTiming = {
  startMs: 60_000,
  checkMs: 20_000,
  leaseMs: 30_000,
  deadlineMs: 2 * 60 * 60_000,
  lifeMs: 24 * 60 * 60_000,
}

/** Stores the next version, also if the task was deleted meanwhile. */
export function save(services: TaskServices, next: StoredTask): Promise<Saved<VideoTask>> {
  return saved(services, next, 'removed')
}

/** Gives back the lease of a task, whose next step is due at `dueAt`; null: none. Resolves to the task as stored. */
export async function putBack(
  services: TaskServices,
  task: StoredTask,
  data: Partial<VideoTask>,
  dueAt: number | null,
): Promise<StoredTask> {
  return (await save(services, changed(task, data, { dueAt, leasedUntil: 0 }))).task
}

/** The deployment a task was submitted to. */
export async function deploymentOf(services: TaskServices, task: VideoTask): Promise<VideoDeployment | undefined> {
  const deployments = await services.deployments(task.request.model)
  return deployments.find(({ provider, model }) => provider === task.provider && model === task.providerModel)
}

/** Calls a vendor with a timeout. Independent of the client's request, so a disconnect does not abort it. */
export async function ask<T>(ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  try {
    return await within(ms, call(controller.signal), 'the vendor', 'provider_timeout')
  } catch (error) {
    controller.abort(error)
    throw error
  }
}

/** Whether a submission that failed with this error certainly created no job. */
export function wasNotBegun(error: unknown): boolean {
  if (error instanceof ProviderError && !error.begun) return true
  return GatewayError.is(error) && error.status < 500
}

/** Whether the same request may succeed later. */
export function isPassing(error: unknown): boolean {
  const { status } = GatewayError.from(error)
  return status >= 500 || status === 429
}

/** Milliseconds to the next check after `faults` failed ones: doubles each time, up to a minute. */
export function backoffMs(faults: number, intervalMs: number): number {
  return Math.min(intervalMs * 2 ** Math.min(faults, 8), Math.max(60_000, intervalMs))
}
