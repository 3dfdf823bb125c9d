/** The time limits of one attempt, for deployments that have some: it is given up, and its call at the vendor ends. */
import { Canceller, type AbortListener } from '../http/cancellation.ts'
import { tryNext, type ProviderError } from '../providers/failure.ts'

/** Milliseconds from the start of the attempt. */
export interface AttemptTimes {
  /** Until the first content of a stream. */
  readonly firstContentMs: number | undefined
  /** Until the end of the answer. */
  readonly timeoutMs: number | undefined
}

export class AttemptLimits<A> extends Canceller implements AbortListener {
  readonly #parent: Canceller
  readonly #discard: (answer: A) => void
  readonly #first: NodeJS.Timeout | undefined
  readonly #whole: NodeJS.Timeout | undefined
  #reject: ((error: ProviderError) => void) | undefined

  /** `discard`: releases an answer that arrives after the attempt was given up. */
  constructor({ firstContentMs, timeoutMs }: AttemptTimes, parent: Canceller, discard: (answer: A) => void) {
    super()
    this.#parent = parent
    this.#discard = discard
    this.#first = this.#after(firstContentMs, 'begin')
    this.#whole = this.#after(timeoutMs, 'end')
    if (parent.aborted) this.abort(parent.reason)
    else parent.addEventListener('abort', this)
  }

  /** The request was cancelled. */
  handleEvent(): void {
    this.abort(this.#parent.reason)
  }

  /** The answer of the attempt; a rejection once it is given up, even if the provider does not stop. */
  within(answer: Promise<A>): Promise<A> {
    return new Promise<A>((resolve, reject) => {
      this.#reject = reject
      if (this.aborted) reject(this.reason)
      answer.then((value) => {
        if (this.aborted) return this.#discard(value)
        clearTimeout(this.#first)
        this.#reject = undefined
        resolve(value)
      }, reject)
    })
  }

  /** Stops the timers. */
  close(): void {
    clearTimeout(this.#first)
    clearTimeout(this.#whole)
    this.#parent.removeEventListener('abort', this)
  }

  #after(ms: number | undefined, what: 'begin' | 'end'): NodeJS.Timeout | undefined {
    if (ms === undefined) return undefined
    return setTimeout(() => {
      const cause = new Error(`the answer did not ${what} within ${Math.round(ms)} ms`)
      const error = tryNext(cause, { fault: 'provider_timeout' })
      this.abort(error)
      this.#reject?.(error)
    }, ms).unref()
  }
}
