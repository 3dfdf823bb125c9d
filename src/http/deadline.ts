/** Time limits for promises that other code settles. */
import { GatewayError, type Fault } from '../errors.ts'
import type { Cancellation } from './cancellation.ts'

/** The longest delay of a timer, in milliseconds: about 24 days. A timer with a longer delay fires at once. */
export const longestTimerMs = 2_147_483_647

/**
 * The result of `promise`, or a rejection with 503 after `ms` milliseconds. A result or rejection after that is
 * ignored. `what` names the operation in the error's cause, for the host's log.
 */
export function within<T>(ms: number, promise: Promise<T>, what: string, fault?: Fault): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(noAnswer(ms, what, fault)), ms)
    timer.unref()
    promise.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/** The 503 for an operation that took longer than `ms` milliseconds. `what`: see `within`. */
export function noAnswer(ms: number, what: string, fault?: Fault): GatewayError {
  const cause = new Error(`${what} did not answer within ${ms} ms`)
  return new GatewayError('service_unavailable', { cause, retryAfterMs: 1_000, fault })
}

/**
 * Resolves after `ms` milliseconds, or as soon as `work` is cancelled. Never rejects: check `work` afterwards.
 */
export function pause(ms: number, work: Cancellation): Promise<void> {
  if (work.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      work.removeEventListener('abort', aborted)
      resolve()
    }
    const aborted = { handleEvent: done }
    const timer = setTimeout(done, ms)
    timer.unref()
    work.addEventListener('abort', aborted)
  })
}
