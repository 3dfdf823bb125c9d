import type { CapMeasure, CapPeriod } from '../money/caps/contract.ts'
import type { ErrorCode } from '../errors.ts'
import type { VideoRequest, VideoState } from '../wire/video.ts'
import { isShort, type Json } from '../wire/json.ts'
import type { TaskOwner } from './owner.ts'
import { changed, type Stored } from './stored.ts'

/** The data of a video task. */
export interface VideoTask extends TaskOwner {
  /** `submitting`: the intent to submit is stored, the vendor's response is not yet. Clients see `pending`. */
  readonly state: 'submitting' | VideoState
  /** The request, without its images once the vendor has the job. */
  readonly request: VideoRequest
  /** The end of the path at which it was created, if not `/v1/videos`, which is OpenAI's: responses have the form of that API. */
  readonly path?: 'generations'
  /** SHA-256 of the request as received, to detect a different request with the same idempotency key. */
  readonly digest: string
  /**
   * The id of the request that created the task, as in `x-request-id`: that of its hold, charge and usage record. Tells it
   * from a concurrent duplicate, and from a task with the same id after 24 hours.
   */
  readonly attempt: string
  /** Name of the provider that makes the video, by which any process finds it. Absent until one was chosen. */
  readonly provider?: string
  /** The provider's name for the model. */
  readonly providerModel?: string
  /** The caps that count the task, in the periods in which it was submitted. */
  readonly counted?: readonly CountedCap[]
  /** The W3C `traceparent` of the request that created the task, if it was traced. */
  readonly trace?: string
  /** When the task is cancelled if it is not finished. Milliseconds since the epoch. */
  readonly deadlineAt: number
  /** The vendor's reference to the job. */
  readonly operation?: Json
  /** 0 to 100. */
  readonly progress?: number
  /** The URL of the finished video at the vendor. */
  readonly url?: string
  /** Seconds of video produced. */
  readonly seconds?: number
  /** Why the task failed. */
  readonly error?: {
    /** The stable code. */
    readonly code: string
    /** For clients. */
    readonly message: string
  }
  /** The error response to the submission, repeated for each retry of it. */
  readonly refusal?: {
    /** The stable code. */
    readonly code: ErrorCode
    /** For clients. */
    readonly message: string
    /** The parameter at fault. */
    readonly param: string | null
  }
  /** When the task ended. Milliseconds since the epoch. */
  readonly finishedAt?: number
  /** Its owner has deleted the task, whose job may not have ended. `asked`: the vendor was asked to cancel it. */
  readonly removed?: 'new' | 'asked'
  /** The task has failed, but is charged like a completed one: its owner deleted it after the vendor had accepted it. */
  readonly charged?: true
  /** The task has failed, but the vendor may still be working on it. Reported to the host when the task is settled. */
  readonly unclear?: 'submission_unknown'
  /** Consecutive checks in which the vendor did not know the job. */
  readonly misses: number
  /** Consecutive checks that failed. */
  readonly faults: number
  /** Amount held by the ledger, in micro-units. */
  readonly held?: string
  /** The group's factor on prices at submission, in millionths. Absent: as now. */
  readonly multiplier?: string
  /** Failed deliveries of the webhook. Absent once it is delivered or given up, and if there is none. */
  readonly pushFailures?: number
  /** Whether ledger and hooks have processed the task's end. */
  readonly settled: boolean
}

/** A cap that counts a task. */
export interface CountedCap extends CapPeriod {
  /** The limits at the submission, in digits. */
  readonly limits: Readonly<Partial<Record<CapMeasure, string>>>
}

/** A stored video task. */
export type StoredTask = Stored<VideoTask>

/**
 * The request without its large fields: images can have megabytes and are not needed once the vendor has the job. Without
 * further fields if they are many, because a client can send any, and a rejected request costs nothing.
 */
export function withoutPictures(request: VideoRequest): VideoRequest {
  const { prompt, model, duration, size, ...rest } = request
  const small = Object.entries(rest).filter(([, value]) => isShort(value, 2_000))
  const kept = isShort(small, 20_000) ? Object.fromEntries(small) : {}
  return { ...kept, prompt, model, duration, ...(size !== undefined && { size }) }
}

export function isFinal(task: VideoTask): boolean {
  return task.state === 'completed' || task.state === 'failed'
}

/** The task as its owner deletes it. Once the vendor has the job, the prompt is not needed any more. */
export function deletedAt(now: number, task: StoredTask): StoredTask {
  const { data } = task
  if (isFinal(data)) return changed(task, {}, { expiresAt: now })
  if (data.state === 'submitting') return changed(task, { removed: 'new' }, { expiresAt: now })
  return changed(task, { removed: 'new', request: { ...data.request, prompt: '' } }, { expiresAt: now, dueAt: now })
}
