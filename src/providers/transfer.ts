/** One answer on its way from a vendor: pulled piece by piece, with deadlines, and cut as soon as nobody wants it. */
import type { Dispatcher } from 'undici'
import { GatewayError } from '../errors.ts'
import { unreachable, tryNext } from './failure.ts'

/** See `ClientOptions`. */
export interface Bounds {
  readonly firstByteMs: number
  readonly idleMs: number
  readonly streamBytes: number
}

export interface BytesOptions {
  readonly withinMs?: number
  /** Called with every piece as it arrives. */
  readonly each?: (piece: Buffer) => void
}

/** Bytes held for a reader that is slower than the vendor before the vendor is made to wait. */
const highWater = 256 * 1024

/** How long the end of a body is waited for once its reader has all it needs, so that the connection can be kept. */
const settleMs = 1_000

type Headers = Record<string, string | string[] | undefined>

export class Transfer implements Dispatcher.DispatchHandler, AsyncIterableIterator<Buffer, undefined> {
  status = 0
  headers: Headers = {}
  /** Resolves when status and headers are there. */
  readonly head: Promise<void>
  readonly #begun = Promise.withResolvers<void>()
  readonly #signal: AbortSignal
  readonly #bounds: Bounds
  readonly #sent: (() => void) | undefined
  #controller: Dispatcher.DispatchController | undefined
  #pieces: Buffer[] = []
  #size = 0
  #total = 0
  #wake: (() => void) | undefined
  #over = false
  #error: Error | undefined
  #timer: NodeJS.Timeout
  #late: 'first byte' | 'next piece' = 'first byte'
  #settled = false

  /** `sent`: see `VendorRequest`. */
  constructor(signal: AbortSignal, bounds: Bounds, sent?: () => void) {
    this.#signal = signal
    this.#sent = sent
    this.#bounds = bounds
    this.head = this.#begun.promise
    // Whoever waits for the head is told; a transfer that nobody waits for must not disturb the host.
    this.head.catch(() => undefined)
    this.#timer = setTimeout(this.#tooLate, bounds.firstByteMs)
    this.#timer.unref()
    signal.addEventListener('abort', this.#aborted)
  }

  get contentType(): string | undefined {
    return this.header('content-type')
  }

  get encoding(): string | undefined {
    return this.header('content-encoding')?.toLowerCase()
  }

  header(name: string): string | undefined {
    const value = this.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  /** All of the body. With `withinMs` it has to be there by then. What `each` throws ends the transfer. */
  async bytes(maxBytes: number, { withinMs, each }: BytesOptions = {}): Promise<Buffer> {
    const timer = withinMs === undefined ? undefined : setTimeout(this.#tooLate, withinMs).unref()
    const pieces: Buffer[] = []
    let size = 0
    try {
      for await (const piece of this) {
        size += piece.length
        if (size > maxBytes) throw this.fail(tooLarge(maxBytes))
        each?.(piece)
        pieces.push(piece)
      }
    } finally {
      clearTimeout(timer)
    }
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size)
  }

  /** Everything that has come since the last call, in one piece: what arrives together stays together. */
  async next(): Promise<IteratorResult<Buffer, undefined>> {
    while (this.#pieces.length === 0) {
      if (this.#error !== undefined) throw this.#error
      if (this.#over) return { done: true, value: undefined }
      this.#waitFromNow()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const value = this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces, this.#size)
    this.#pieces = []
    this.#size = 0
    if (this.#controller?.paused) this.#controller.resume()
    return { done: false, value }
  }

  async return(): Promise<IteratorResult<Buffer, undefined>> {
    if (!this.#settled && !this.#over) this.fail(new Error('nobody reads the answer any more'))
    return { done: true, value: undefined }
  }

  /**
   * The reader needs no more. The end of a body often comes a moment after the last event: when it does, the connection
   * serves the next request; when more comes, or nothing, it is cut.
   */
  settle(): void {
    if (this.#over) return
    this.#settled = true
    this.#setTimer(settleMs)
    if (this.#controller?.paused) this.#controller.resume()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Ends the transfer, the connection included, and gives the error back. */
  fail<E extends Error>(error: E): E {
    this.#finish(error)
    this.#controller?.abort(error)
    return error
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#error !== undefined) controller.abort(this.#error)
  }

  onBodySent(): void {
    if (this.#late === 'first byte') this.#timer.refresh()
  }

  onRequestSent(): void {
    this.#sent?.()
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return
    this.status = status
    this.headers = headers
    this.#begun.resolve()
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#over) return
    if (this.#settled) return void this.fail(new Error('the vendor went on after its last word'))
    this.#total += piece.length
    if (this.#total > this.#bounds.streamBytes) return void this.fail(tooLarge(this.#bounds.streamBytes))
    this.#pieces.push(piece)
    this.#size += piece.length
    if (this.#size > highWater) controller.pause()
    this.#awake()
  }

  onResponseEnd(): void {
    this.#finish(undefined)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#signal.aborted) this.#finish(this.#signal.reason as Error)
    // What is wrong with an upload that is passed on is the client's affair, and told as it is.
    else if (GatewayError.is(error)) this.#finish(error)
    else this.#finish(unreachable(error, this.#controller !== undefined))
  }

  readonly #aborted = (): void => {
    this.fail(this.#signal.reason as Error)
  }

  readonly #tooLate = (): void => {
    // A reader that is slow itself has no reason to complain of the vendor.
    const waiting = this.#late === 'first byte' ? this.#total === 0 : this.#wake !== undefined
    if (!waiting && !this.#settled) return
    this.fail(tryNext(new Error(`the vendor let us wait too long for the ${this.#late}`)))
  }

  /** The time for the first byte runs from the beginning, the time for each further piece from when it is wanted. */
  #waitFromNow(): void {
    if (this.#total === 0) return
    if (this.#late === 'next piece') this.#timer.refresh()
    else {
      this.#late = 'next piece'
      this.#setTimer(this.#bounds.idleMs)
    }
  }

  #setTimer(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#tooLate, ms)
    this.#timer.unref()
  }

  #finish(error: Error | undefined): void {
    if (this.#over) return
    this.#over = true
    this.#error = error
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this.#aborted)
    // What has come is still given out; the error stands behind it.
    if (error !== undefined) this.#begun.reject(error)
    this.#awake()
  }

  #awake(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

function tooLarge(bytes: number): Error {
  return tryNext(new Error(`the vendor's answer is larger than ${bytes} bytes`))
}
