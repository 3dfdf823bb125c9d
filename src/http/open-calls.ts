/** Calls in progress, for cancellation and for shutdown. A call is the part of a request that waits for a model. */
import { GatewayError } from '../errors.ts'
import { Canceller, type Cancellation } from './cancellation.ts'
import { longestTimerMs } from './deadline.ts'

/** One call in progress. Cancelled with a `GatewayError` when the response is no longer needed, or at shutdown. */
export class OpenCall<Subject = unknown> extends Canceller {
  /** What it is about, for whoever lists the open calls. */
  subject: Subject | undefined
  readonly #calls: OpenCalls<Subject>
  #client: Cancellation
  readonly #drainMs: number
  #disconnected = false
  #timer: NodeJS.Timeout | undefined

  /** Use `OpenCalls.open`. */
  constructor(calls: OpenCalls<Subject>, client: Cancellation, drainMs: number) {
    super()
    this.#calls = calls
    this.#client = client
    this.#drainMs = drainMs
    if (client.aborted) this.#abortAsDisconnected()
    else client.addEventListener('abort', this)
  }

  /** Whether the client has disconnected. */
  get disconnected(): boolean {
    return this.#disconnected
  }

  /** Records that the client disconnected. True if the response is still read to its end, to learn its usage. */
  disconnect(): boolean {
    if (!this.#disconnected && !this.aborted) {
      this.#disconnected = true
      if (this.#drainMs > 0 && this.#calls.mayDrain()) {
        this.#timer = setTimeout(() => this.#abortAsDisconnected(), this.#drainMs)
        this.#timer.unref()
      } else this.#abortAsDisconnected()
    }
    return !this.aborted
  }

  /** The client has connected again, and gets the rest of the response there. */
  follow(client: Cancellation): void {
    this.#client.removeEventListener('abort', this)
    this.#client = client
    if (this.aborted) return
    this.#disconnected = false
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer)
      this.#timer = undefined
      this.#calls.noLongerDrains()
    }
    if (client.aborted) this.disconnect()
    else client.addEventListener('abort', this)
  }

  /** The client has disconnected. */
  handleEvent(): void {
    this.disconnect()
  }

  /** Ends the call. With a reason, work that is still in progress for it is aborted. */
  done(reason?: GatewayError): void {
    this.#client.removeEventListener('abort', this)
    clearTimeout(this.#timer)
    this.subject = undefined
    if (!this.#calls.close(this, this.#timer !== undefined)) return
    if (reason !== undefined) this.abort(reason)
  }

  #abortAsDisconnected(): void {
    this.#disconnected = true
    this.abort(new GatewayError('client_closed'))
  }
}

/** The calls and requests in progress in one gateway. */
export class OpenCalls<Subject = unknown> {
  readonly #open = new Set<OpenCall<Subject>>()
  readonly #maxDrains: number
  #drains = 0
  #requests = 0
  #reason: GatewayError | undefined
  #emptied: (() => void) | undefined

  /** `maxDrains`: how many responses may be read at the same time after their clients disconnected. */
  constructor(maxDrains = 100) {
    this.#maxDrains = maxDrains
  }

  /** The number of open calls. */
  get size(): number {
    return this.#open.size
  }

  /** The open calls, the oldest first. */
  [Symbol.iterator](): Iterator<OpenCall<Subject>> {
    return this.#open.values()
  }

  /** Counts a request that has no call yet, so that `emptied` waits for it too, until `leave`. */
  enter(): void {
    this.#requests++
  }

  /** Ends what `enter` began: the request was answered, or a call was opened for it. */
  leave(): void {
    this.#requests--
    this.#notify()
  }

  /**
   * Opens a call, which is aborted at once after `cut`. `drainMs`: milliseconds for which the response is still read
   * after the client disconnects. Default 0.
   */
  open(client: Cancellation, drainMs = 0): OpenCall<Subject> {
    const call = new OpenCall<Subject>(this, client, drainMs)
    if (this.#reason !== undefined) call.abort(this.#reason)
    this.#open.add(call)
    return call
  }

  /** For `OpenCall`: reserves one of the `maxDrains`; false if there is none left. */
  mayDrain(): boolean {
    if (this.#drains >= this.#maxDrains) return false
    this.#drains++
    return true
  }

  /** For `OpenCall`: returns what `mayDrain` reserved. */
  noLongerDrains(): void {
    this.#drains--
  }

  /** For `OpenCall`: removes a call; false if it was removed before. */
  close(call: OpenCall<Subject>, drained: boolean): boolean {
    if (!this.#open.delete(call)) return false
    if (drained) this.#drains--
    this.#notify()
    return true
  }

  /** Resolves when no request and no call is open, or after `ms` milliseconds. */
  emptied(ms: number): Promise<void> {
    if (this.#isEmpty()) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, longestTimerMs))
      timer.unref()
      this.#emptied = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Aborts all calls, and every one that is opened later. */
  cut(reason: GatewayError): void {
    this.#reason = reason
    for (const call of this.#open) call.abort(reason)
  }

  #isEmpty(): boolean {
    return this.#requests === 0 && this.#open.size === 0
  }

  #notify(): void {
    if (this.#emptied !== undefined && this.#isEmpty()) this.#emptied()
  }
}
