/** Time limits for promises that other code settles. */
import { GatewayError } from '../errors.ts'

/** The longest delay of a timer, in milliseconds: about 24 days. A timer with a longer delay fires at once. */
export const longestTimerMs = 2_147_483_647

/**
 * The result of `promise`, or a rejection with 503 after `ms` milliseconds. A result or rejection after that is
 * ignored. `what` names the operation in the error's cause, for the host's log.
 */
export function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      const cause = new Error(`${what} did not answer within ${ms} ms`)
      reject(new GatewayError('service_unavailable', { cause, retryAfterMs: 1_000 }))
    }, ms)
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

/** Whether a promise resolves or rejects within `ms` milliseconds. */
export function isSettledWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, false)
    timer.unref()
    const settled = () => {
      clearTimeout(timer)
      resolve(true)
    }
    promise.then(settled, settled)
  })
}

/**
 * Resolves after `ms` milliseconds, or as soon as the signal is aborted. Never rejects: check the signal afterwards.
 */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    timer.unref()
    signal.addEventListener('abort', done)
  })
}
