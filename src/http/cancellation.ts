/** Cancellation of work without an `AbortController` and its events for each request. */

/** The part of an `AbortSignal` that the gateway uses; every `AbortSignal` has it. */
export interface Cancellation {
  /** Whether the work was cancelled. */
  readonly aborted: boolean
  /** Why the work was cancelled; undefined before. */
  readonly reason: unknown
  /** Calls the listener once the work is cancelled; never if it already is. */
  addEventListener(type: 'abort', listener: AbortListener): void
  /** Removes a listener. */
  removeEventListener(type: 'abort', listener: AbortListener): void
}

/** An object, so that listening takes no closure. */
export interface AbortListener {
  /** Called once. Must not throw. */
  handleEvent(): void
}

/** Cancels work. Holds few listeners at a time, so they are a list. */
export class Canceller implements Cancellation {
  aborted = false
  reason: unknown = undefined
  #listeners: AbortListener[] | undefined
  #controller: AbortController | undefined

  /** A real signal with the same state, made on first access: for code outside of the gateway. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }

  addEventListener(_: 'abort', listener: AbortListener): void {
    if (this.#listeners === undefined) this.#listeners = [listener]
    else if (!this.#listeners.includes(listener)) this.#listeners.push(listener)
  }

  removeEventListener(_: 'abort', listener: AbortListener): void {
    const listeners = this.#listeners
    if (listeners === undefined) return
    const at = listeners.indexOf(listener)
    if (at === listeners.length - 1) listeners.pop()
    else if (at >= 0) listeners.splice(at, 1)
  }

  /** Cancels the work. Further calls do nothing. */
  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#controller?.abort(reason)
    while (this.#listeners !== undefined && this.#listeners.length > 0) this.#listeners.shift()?.handleEvent()
  }
}

/** The cancellation of a call or an exchange, without making its `signal` if there is no need. */
export function cancellationOf(work: {
  readonly signal: AbortSignal
  readonly cancellation?: Cancellation | undefined
}): Cancellation {
  return work.cancellation ?? work.signal
}
