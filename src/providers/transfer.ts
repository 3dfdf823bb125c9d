/** The transfer of one HTTP response: an async iterator of its bytes, with back-pressure, deadlines and size limits. */
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
  /** Milliseconds until the whole body must have arrived. Default: no deadline of its own. */
  readonly withinMs?: number
  /** Called with every piece as it arrives. An error that it throws ends the transfer. */
  readonly each?: (piece: Buffer) => void
}

/** Bytes buffered for a slow reader before the connection is paused. */
const highWater = 256 * 1024

/** How long to wait for the end of a body that needs no more reading, so that its connection can be reused. */
const settleMs = 1_000

type Headers = Record<string, string | string[] | undefined>

export class Transfer implements Dispatcher.DispatchHandler, AsyncIterableIterator<Buffer, undefined> {
  status = 0
  headers: Headers = {}
  /** Resolves once status and headers have arrived. */
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
    // `send` awaits the head too, and reports the error. This handler only prevents an unhandled rejection.
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

  /** Reads the whole body. Throws if it is larger than `maxBytes`. */
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

  /** All bytes that arrived since the last call, as one piece. */
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
    if (!this.#settled && !this.#over) this.fail(new Error('the reader stopped before the end of the response'))
    return { done: true, value: undefined }
  }

  /**
   * Called when the reader has all it needs. The end of a body often arrives a moment after the last event. If it does,
   * the connection is reused; if more data arrives, or the end does not, the connection is closed.
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

  /** Ends the transfer, closes its connection, and returns the error for the caller to throw. */
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
    if (this.#settled) return void this.fail(new Error('the vendor sent data after the last event'))
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
    // The client's own upload failed while it was passed on: that error already fits the client.
    else if (GatewayError.is(error)) this.#finish(error)
    else this.#finish(unreachable(error, this.#controller !== undefined))
  }

  readonly #aborted = (): void => {
    this.fail(this.#signal.reason as Error)
  }

  readonly #tooLate = (): void => {
    // Without a waiting reader, the reader is the slow side, not the vendor.
    const waiting = this.#late === 'first byte' ? this.#total === 0 : this.#wake !== undefined
    if (!waiting && !this.#settled) return
    this.fail(tryNext(new Error(`timed out waiting for the vendor's ${this.#late}`)))
  }

  /** The timeout of the first byte starts with the transfer; that of each further piece when the reader asks for it. */
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
    // `next` first returns the buffered pieces, then throws the error.
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
  return tryNext(new Error(`the vendor's response is larger than ${bytes} bytes`))
}
