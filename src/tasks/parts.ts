/** What the tasks work with, and the small steps that every part of them takes. */
import { ProviderError } from '../providers/failure.ts'
import type { VideoProvider } from '../providers/video.ts'
import { GatewayError } from '../errors.ts'
import type { TaskStore } from './contract.ts'
import { fromRecord, toRecord, type StoredTask, type VideoTask } from './task.ts'

/** The money side of a task. Every method may be called again after a crash and must then do nothing new. */
export interface VideoBilling {
  /**
   * Holds the most the task can cost for `leaseMs`, and gives the amount to be kept with it; a hold that has lapsed is taken
   * again. Throws `insufficient_quota`.
   */
  hold(task: StoredTask, leaseMs: number): Promise<string>
  /** Keeps the hold of a stored task for as long as the task may last. */
  keep(task: StoredTask): Promise<void>
  /** Ends the hold: settles a completed task, releases a failed one. */
  end(task: StoredTask): Promise<void>
}

/** What the host may want to know. `reconcile` events need a person or a script: the vendor may have a job nobody has. */
export interface TaskEvent {
  readonly type: 'created' | 'completed' | 'failed' | 'reconcile'
  /**
   * Of a `reconcile` event: `submission_unknown`, the vendor may be working on a job whose task has failed;
   * `orphan`, the vendor is working on it under `operation`; `late_result`, it finished after the task was cancelled.
   */
  readonly reason?: 'submission_unknown' | 'orphan' | 'late_result'
  readonly task: StoredTask
}

export interface VideoDeployment {
  readonly provider: string
  readonly model: string
  /** See `VideoCall.openModel`. */
  readonly openModel: boolean
  readonly video: VideoProvider
  /** Fields of the request that the host has fixed. */
  readonly set?: Readonly<Record<string, unknown>> | undefined
}

export interface TaskParts {
  readonly store: TaskStore
  /** By the store's clock. */
  readonly now: () => Promise<number>
  /** The ways to make a video with this model, in the order they should be tried. */
  readonly deployments: (model: string) => Promise<readonly VideoDeployment[]>
  readonly billing: VideoBilling
  readonly publish: (event: TaskEvent) => void
  /** Tells a webhook of the end of a task; rejects when that is to be tried again. Absent where there are none. */
  readonly push?: (task: StoredTask) => Promise<void>
  /** Milliseconds between two questions to the vendor for a video of so many seconds. */
  readonly intervalMs: (seconds: number) => number
  readonly timing: TaskTiming
}

/** Milliseconds each. */
export interface TaskTiming {
  /** For a submission to be answered by the vendor. Default 60,000. */
  readonly startMs: number
  /** For a question about a job. Default 20,000. */
  readonly checkMs: number
  /** For which whoever works on a task has it alone; longer than `checkMs`. Default 30,000. */
  readonly leaseMs: number
  /** From creation to automatic cancellation. Default 7,200,000, two hours. */
  readonly deadlineMs: number
  /** From creation to the id's end. The specification says 24 hours. */
  readonly lifeMs: number
}

export const defaultTiming: TaskTiming = {
  startMs: 60_000,
  checkMs: 20_000,
  leaseMs: 30_000,
  deadlineMs: 2 * 60 * 60_000,
  lifeMs: 24 * 60 * 60_000,
}

/** Stores the next version; the stored task where somebody else was faster. */
export async function save(parts: TaskParts, next: StoredTask): Promise<{ won: boolean; task: StoredTask }> {
  if (await parts.store.replace(toRecord(next))) return { won: true, task: next }
  const current = await parts.store.find(next.account, next.id, await parts.now())
  return { won: false, task: current === undefined ? next : fromRecord(current) }
}

/** Who works, or has worked, on a task. */
export async function workerOf(parts: TaskParts, task: VideoTask): Promise<VideoDeployment | undefined> {
  const deployments = await parts.deployments(task.request.model)
  return deployments.find(({ provider, model }) => provider === task.provider && model === task.providerModel)
}

/** A question to a vendor with a deadline of its own: a client that leaves does not end it. */
export async function ask<T>(ms: number, question: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new GatewayError('service_unavailable', {
        cause: new Error(`the vendor took longer than ${ms} ms`),
      })
      reject(error)
      controller.abort(error)
    }, ms)
    timer.unref()
  })
  try {
    return await Promise.race([question(controller.signal), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether it is certain that the vendor did not begin a job for a submission that failed like this. */
export function wasNotBegun(error: unknown): boolean {
  if (error instanceof ProviderError && !error.begun) return true
  return GatewayError.is(error) && error.status < 500
}

/** No more than one question in a minute to a vendor that fails, fewer the longer it does. */
export function backoffMs(faults: number, intervalMs: number): number {
  return Math.min(intervalMs * 2 ** Math.min(faults, 8), Math.max(60_000, intervalMs))
}
