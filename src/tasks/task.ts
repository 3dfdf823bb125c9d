/** The video task: what is stored of it, and how it may change. Pure functions, no time and no store of their own. */
import type { ErrorCode } from '../errors.ts'
import type { VideoRequest, VideoState } from '../wire/video.ts'
import { copyJson, isShort, type Json } from '../wire/json.ts'
import type { TaskRecord } from './contract.ts'

export interface VideoTask {
  /** `submitting`: the intent is stored, the vendor's answer is not; clients see `pending`. */
  readonly state: 'submitting' | VideoState
  readonly request: VideoRequest
  /** SHA-256 of the request as it came, for repetitions under one idempotency key. */
  readonly digest: string
  /** Random, of the submission that made the task: tells it from its repetitions. */
  readonly attempt: string
  /** Who does the work: by name, because another process must find them again. Absent until somebody was asked. */
  readonly provider?: string
  readonly providerModel?: string
  readonly group: string
  readonly key?: string
  /** Cancelled if not finished by then. */
  readonly deadlineAt: number
  /** The vendor's reference to the job. */
  readonly operation?: Json
  /** 0 to 100. */
  readonly progress?: number
  readonly url?: string
  /** Seconds of video that were made. */
  readonly seconds?: number
  readonly error?: { readonly code: string; readonly message: string }
  /** The refusal that was answered to the submission, for repetitions of it. */
  readonly refusal?: { readonly code: ErrorCode; readonly message: string; readonly param: string | null }
  readonly finishedAt?: number
  /** The vendor may be working on a job although the task has failed: the host is told when the task is settled. */
  readonly unclear?: 'submission_unknown'
  /** Checks in a row for which the vendor did not know the job. */
  readonly misses: number
  /** Failures in a row to ask the vendor at all. */
  readonly faults: number
  /** What the ledger holds for it, in micro-units. */
  readonly held?: string
  /** Tries to tell a webhook of the end that failed; absent when it was told, or nobody wants to know. */
  readonly untold?: number
  /** Whether ledger and host know of the end. */
  readonly settled: boolean
}

/** A stored task with its data understood. */
export interface StoredTask extends Omit<TaskRecord, 'data'> {
  readonly data: VideoTask
}

/** The next version of a task. The lease is kept unless it is given up in `record`. */
export function changed(
  task: StoredTask,
  data: Partial<VideoTask>,
  record: Partial<Pick<TaskRecord, 'dueAt' | 'leasedUntil' | 'expiresAt'>> = {},
): StoredTask {
  return { ...task, ...record, version: task.version + 1, data: { ...task.data, ...data } }
}

/** What is kept of a request that no vendor needs to be given again: pictures in it may be of many megabytes. */
export function withoutPictures(request: VideoRequest): VideoRequest {
  const { prompt, model, duration, ...rest } = request
  const small = Object.entries(rest).filter(([, value]) => isShort(value, 2_000))
  return { ...Object.fromEntries(small), prompt, model, duration }
}

export function isFinal(task: VideoTask): boolean {
  return task.state === 'completed' || task.state === 'failed'
}

/** A task is stored as plain JSON: what is undefined is left out. */
export function toRecord(task: StoredTask): TaskRecord {
  return { ...task, data: copyJson(task.data) }
}

export function fromRecord(record: TaskRecord): StoredTask {
  return { ...record, data: record.data as unknown as VideoTask }
}
