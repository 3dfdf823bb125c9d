/** What is kept of a response in the background. */
import type { DurableEnd } from '../../admission/ticket.ts'
import type { TaskRecord } from '../../tasks/contract.ts'
import { changed, type Stored } from '../../tasks/stored.ts'
import type { ResponseObject } from '../../wire/responses.ts'
import type { Continued } from './archive.ts'

/** The data of its task. */
export interface BackgroundTask {
  /** Id of the request, and of its hold. */
  readonly attempt: string
  /** Its client has cancelled it. */
  readonly cancelled?: true
  /** It was deleted: it is settled, and not stored. */
  readonly removed?: true
  /** How it ended. Absent while it is made. */
  readonly end?: BackgroundEnd
}

/** The end of a response, and what is left to do for it. */
export interface BackgroundEnd {
  readonly response: ResponseObject
  /** The number of items of its input that earlier turns have. */
  readonly earlier: number
  /** The conversation that it extends. */
  readonly conversation?: Continued
  /** The end of its hold and its usage record, as `encoded` writes them. Absent once they are stored. */
  readonly charge?: string
  /** Its events. Absent if they were too many. */
  readonly events?: string
}

export type StoredJob = Stored<BackgroundTask>

/** Milliseconds for which a process may make a response without renewing its lease, and between two renewals. */
export const leaseMs = 15_000
export const renewMs = 3_000
/** Milliseconds for which the stream of a response that has ended can be taken up. */
export const streamMs = 600_000
/** Milliseconds after which a response that no process works on is forgotten. */
export const lifeMs = 86_400_000

/** The next version of a task. One that was removed has expired, and stays so. */
export function nextOf(
  task: StoredJob,
  data: Partial<BackgroundTask>,
  times: Partial<Pick<TaskRecord, 'dueAt' | 'leasedUntil' | 'expiresAt'>>,
): StoredJob {
  return changed(task, data, task.data.removed === true ? { ...times, expiresAt: task.expiresAt } : times)
}

/** A response that has failed, or, without a failure, was cancelled. */
export function isOver(response: ResponseObject, error: ResponseObject['error'] = null): ResponseObject {
  return { ...response, status: error === null ? 'cancelled' : 'failed', error }
}

/** As JSON text, with integers of any size. */
export function encoded(end: DurableEnd): string {
  return JSON.stringify(end, (_, value: unknown) => (typeof value === 'bigint' ? { integer: String(value) } : value))
}

export function decoded(text: string): DurableEnd {
  return JSON.parse(text, (_, value: unknown) => {
    const { integer, ...rest } = Object(value) as { readonly integer?: unknown }
    return typeof integer === 'string' && Object.keys(rest).length === 0 ? BigInt(integer) : value
  }) as DurableEnd
}
