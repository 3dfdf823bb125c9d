/** The calls under way: each with the one signal that ends it, all of them known to whoever wants to close. */
import { GatewayError } from '../errors.ts'

export interface OpenCall {
  /** Aborted, with a `GatewayError` as reason, when the client leaves or the call is cut. */
  readonly signal: AbortSignal
  /** The call is over. With a reason: whatever still works for it is told to stop. */
  done(reason?: GatewayError): void
}

export class OpenCalls {
  readonly #open = new Set<AbortController>()
  #requests = 0
  #reason: GatewayError | undefined
  #emptied: (() => void) | undefined

  get size(): number {
    return this.#open.size
  }

  /** A request has come, which may become a call: it is waited for like one, until `leave`. */
  enter(): void {
    this.#requests++
  }

  /** The request was answered, or a call has been opened for it. */
  leave(): void {
    this.#requests--
    this.#tell()
  }

  /** A call that is opened after the cut is cut from birth. */
  open(client: AbortSignal): OpenCall {
    const controller = new AbortController()
    const left = () => controller.abort(new GatewayError('client_closed'))
    if (this.#reason !== undefined) controller.abort(this.#reason)
    else if (client.aborted) left()
    else client.addEventListener('abort', left)
    this.#open.add(controller)
    return {
      signal: controller.signal,
      done: (reason) => {
        client.removeEventListener('abort', left)
        if (!this.#open.delete(controller)) return
        if (reason !== undefined) controller.abort(reason)
        this.#tell()
      },
    }
  }

  /** Resolves when no request and no call is open, or after `ms`. */
  emptied(ms: number): Promise<void> {
    if (this.#isEmpty()) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      timer.unref()
      this.#emptied = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  cut(reason: GatewayError): void {
    this.#reason = reason
    for (const controller of this.#open) controller.abort(reason)
  }

  #isEmpty(): boolean {
    return this.#requests === 0 && this.#open.size === 0
  }

  #tell(): void {
    if (this.#emptied !== undefined && this.#isEmpty()) this.#emptied()
  }
}

/**
 * The result of `promise`, or a rejection with the signal's reason as soon as it is aborted. What comes of the promise
 * after that goes to `late`.
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, late?: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason)
    if (signal.aborted) aborted()
    else signal.addEventListener('abort', aborted)
    const settle = (value: T) => {
      resolve(value)
      if (signal.aborted) late?.(value)
    }
    const forget = () => signal.removeEventListener('abort', aborted)
    promise.then(settle, reject).then(forget, forget)
  })
}
