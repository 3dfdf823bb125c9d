/** The calls under way: each with the one signal that ends it, all of them known to whoever wants to close. */
import { GatewayError } from '../errors.ts'
import { longestTimerMs } from './deadline.ts'

/** One call under way. */
export class OpenCall {
  readonly #calls: OpenCalls
  readonly #client: AbortSignal
  readonly #drainMs: number
  readonly #controller = new AbortController()
  #left = false
  #timer: NodeJS.Timeout | undefined

  /** Made by `OpenCalls.open`. */
  constructor(calls: OpenCalls, client: AbortSignal, drainMs: number) {
    this.#calls = calls
    this.#client = client
    this.#drainMs = drainMs
    if (client.aborted) this.#abortAsLeft()
    else client.addEventListener('abort', this)
  }

  /** Aborted, with a `GatewayError` as reason, when nobody wants the answer any more or the call is cut. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The client has gone. */
  get left(): boolean {
    return this.#left
  }

  /** The client has gone. True if the answer is read on all the same, for its count. */
  leave(): boolean {
    if (!this.#left && !this.signal.aborted) {
      this.#left = true
      if (this.#drainMs > 0 && this.#calls.mayDrain()) {
        this.#timer = setTimeout(() => this.#abortAsLeft(), this.#drainMs)
        this.#timer.unref()
      } else this.#abortAsLeft()
    }
    return !this.signal.aborted
  }

  /** For the client's signal. */
  handleEvent(): void {
    this.leave()
  }

  cut(reason: GatewayError): void {
    this.#controller.abort(reason)
  }

  /** The call is over. With a reason: whatever still works for it is told to stop. */
  done(reason?: GatewayError): void {
    this.#client.removeEventListener('abort', this)
    clearTimeout(this.#timer)
    if (!this.#calls.close(this, this.#timer !== undefined)) return
    if (reason !== undefined) this.#controller.abort(reason)
  }

  #abortAsLeft(): void {
    this.#left = true
    this.#controller.abort(new GatewayError('client_closed'))
  }
}

export class OpenCalls {
  readonly #open = new Set<OpenCall>()
  readonly #mostDrains: number
  #drains = 0
  #requests = 0
  #reason: GatewayError | undefined
  #emptied: (() => void) | undefined

  /** `mostDrains`: answers that are read at once although their clients have left. */
  constructor(mostDrains = 100) {
    this.#mostDrains = mostDrains
  }

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

  /**
   * A call that is opened after the cut is cut from birth. With `drainMs` it goes on for as many milliseconds after its
   * client has left.
   */
  open(client: AbortSignal, drainMs = 0): OpenCall {
    const call = new OpenCall(this, client, drainMs)
    if (this.#reason !== undefined) call.cut(this.#reason)
    this.#open.add(call)
    return call
  }

  /** For `OpenCall`: whether one more answer may be read that nobody waits for. */
  mayDrain(): boolean {
    if (this.#drains >= this.#mostDrains) return false
    this.#drains++
    return true
  }

  /** For `OpenCall`: false for one that was closed before. */
  close(call: OpenCall, drained: boolean): boolean {
    if (!this.#open.delete(call)) return false
    if (drained) this.#drains--
    this.#tell()
    return true
  }

  /** Resolves when no request and no call is open, or after `ms`. */
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

  cut(reason: GatewayError): void {
    this.#reason = reason
    for (const call of this.#open) call.cut(reason)
  }

  #isEmpty(): boolean {
    return this.#requests === 0 && this.#open.size === 0
  }

  #tell(): void {
    if (this.#emptied !== undefined && this.#isEmpty()) this.#emptied()
  }
}

const once = { once: true }

/**
 * The result of `promise`, or a rejection with the signal's reason as soon as it is aborted. What comes of the promise
 * after that goes to `late`, which must not throw.
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, late?: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason)
    if (signal.aborted) aborted()
    else signal.addEventListener('abort', aborted, once)
    promise.then(
      (value) => {
        signal.removeEventListener('abort', aborted)
        resolve(value)
        if (signal.aborted) late?.(value)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', aborted)
        reject(error)
      },
    )
  })
}
