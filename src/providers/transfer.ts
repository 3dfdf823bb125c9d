/** The transfer of one HTTP response: a flow of its bytes, with back-pressure, deadlines and size limits. */
import type { Dispatcher } from 'undici'
import { GatewayError } from '../errors.ts'
import type { AbortListener, Cancellation } from '../http/cancellation.ts'
import { Flow, Pulled, type Receiver } from '../http/flow.ts'
import { TimeLimit, type Deadline, type TimeLimited } from '../http/time-limit.ts'
import { isMediaType } from '../http/media-type.ts'
import { tryNext, unreachable, unreadable } from './failure.ts'
import type { ResponseHead } from './reported-limits.ts'
import { joinedBytes, tooLarge, type WholeBody } from './whole-body.ts'
import { ignore } from '../http/ignore.ts'

/** The bounds of all transfers of one client. See `ClientOptions`. */
export interface Bounds {
  readonly firstByte: TimeLimit
  readonly idle: TimeLimit
  /** How long to wait for the end of a body that needs no more reading, so that its connection can be reused. */
  readonly settling: TimeLimit
  readonly streamBytes: number
}

/** Bytes kept for a slow receiver before the connection is paused. */
const highWater = 256 * 1024

type Headers = Record<string, string | string[] | undefined>

const noHeaders: Headers = {}

export interface TransferOptions {
  readonly signal: Cancellation
  readonly bounds: Bounds
  /** See `VendorRequest`. */
  readonly sent?: (() => void) | undefined
  /** See `VendorRequest`. */
  readonly answered?: ((head: ResponseHead) => void) | undefined
  /** See `VendorRequest`. */
  readonly whole?: WholeBody | undefined
}

/** Delivers together what arrives in one turn of the event loop. */
export class Transfer extends Flow<Buffer> implements Dispatcher.DispatchHandler, AbortListener, TimeLimited {
  status = 0
  headers: Headers = noHeaders
  /** The error in its body, once somebody reads it. */
  error: Promise<unknown> | undefined
  /** Resolves once status and headers have arrived, and with them the body if it is awaited as a whole. */
  readonly begun: Promise<Transfer>
  #begin: (transfer: Transfer) => void = ignore
  #reject: (error: Error) => void = ignore
  readonly #signal: Cancellation
  readonly #bounds: Bounds
  readonly #sent: (() => void) | undefined
  readonly #answered: TransferOptions['answered']
  #whole: WholeBody | undefined
  #controller: Dispatcher.DispatchController | undefined
  #pieces: Buffer[] = []
  #size = 0
  #total = 0
  #receiver: Receiver<Buffer> | undefined
  #scheduled = false
  #over = false
  #error: Error | undefined
  #deadline: Deadline | undefined
  #late: 'first byte' | 'next piece' = 'first byte'
  #settled = false

  constructor({ signal, bounds, sent, answered, whole }: TransferOptions) {
    super()
    this.#signal = signal
    this.#sent = sent
    this.#answered = answered
    this.#bounds = bounds
    this.#whole = whole
    this.begun = new Promise((resolve, reject) => {
      this.#begin = resolve
      this.#reject = reject
    })
    this.#deadline = bounds.firstByte.start(this)
    signal.addEventListener('abort', this)
  }

  /** The whole body, if it was awaited as a whole. */
  get body(): WholeBody | undefined {
    return this.#over ? this.#whole : undefined
  }

  get contentType(): string | undefined {
    return this.header('content-type')
  }

  header(name: string): string | undefined {
    const value = this.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  /** Reads the rest of the body. Throws if it exceeds the bounds of `whole`, or is not complete within `withinMs`. */
  async read(whole: WholeBody, withinMs?: number): Promise<WholeBody> {
    const timer = withinMs === undefined ? undefined : setTimeout(() => this.timedOut(), withinMs).unref()
    try {
      for await (const piece of this) whole.add(piece)
    } finally {
      clearTimeout(timer)
    }
    return whole
  }

  start(receiver: Receiver<Buffer>): void {
    this.#receiver = receiver
    if (this.#pieces.length > 0 || this.#over) return this.deliver()
    this.#waitFromNow()
    this.#resume()
  }

  pause(): void {
    this.#receiver = undefined
  }

  /** Closes the connection, unless the response is complete or `settle` was called. */
  stop(): void {
    this.#receiver = undefined
    if (!this.#settled && !this.#over) this.fail(new Error('the reader stopped before the end of the response'))
  }

  /**
   * Called when the receiver has all it needs. The end of a body often arrives a moment after the last event. If it does,
   * the connection is reused; if more data arrives, or the end does not, the connection is closed.
   */
  settle(): void {
    if (this.#over) return
    this.#settled = true
    this.#limit(this.#bounds.settling)
    this.#receiver = undefined
    this.#resume()
  }

  /** What arrives in one turn is one piece for an iterator. */
  override [Symbol.asyncIterator](): AsyncIterableIterator<Buffer, undefined> {
    return new Pulled(this, joinedBytes)
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
    if (this.#late === 'first byte' && this.#deadline !== undefined) this.#bounds.firstByte.restart(this.#deadline)
  }

  onRequestSent(): void {
    this.#sent?.()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return
    // Slices of what was read from the connection, which they would keep in memory until the end of the response.
    Object.assign(controller, { rawHeaders: null })
    this.status = status
    this.headers = headers
    this.#answered?.(this)
    const encoding = this.header('content-encoding')?.toLowerCase()
    // An error has its status, whatever its body.
    if (status < 300 && encoding !== undefined && encoding !== 'identity') {
      return void this.fail(
        unreadable('the vendor sent a compressed response to a request for an uncompressed one', 'next'),
      )
    }
    const succeeded = status === 200 || status === 201
    if (!succeeded || isMediaType(this.contentType, 'text/event-stream')) this.#whole = undefined
    if (this.#whole === undefined) this.#begin(this)
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#over) return
    if (this.#settled) return void this.fail(new Error('the vendor sent data after the last event'))
    this.#total += piece.length
    if (this.#total > this.#bounds.streamBytes) return void this.fail(tooLarge(this.#bounds.streamBytes))
    if (this.#whole !== undefined) return this.#keep(this.#whole, piece)
    this.#pieces.push(piece)
    this.#size += piece.length
    if (this.#size > highWater) controller.pause()
    this.#schedule()
  }

  #keep(whole: WholeBody, piece: Buffer): void {
    try {
      whole.add(piece)
      this.#waitFromNow()
    } catch (error) {
      this.fail(error as Error)
    }
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

  /** The request was cancelled. */
  handleEvent(): void {
    this.fail(this.#signal.reason as Error)
  }

  timedOut(): void {
    this.#deadline = undefined
    // Without a waiting receiver, that is the slow side, not the vendor.
    const waiting =
      this.#late === 'first byte' ? this.#total === 0 : this.#receiver !== undefined || this.#whole !== undefined
    if (!waiting && !this.#settled) return
    const cause = new Error(`timed out waiting for the vendor's ${this.#late}`)
    this.fail(tryNext(cause, { fault: 'provider_timeout' }))
  }

  /** The timeout of the first byte starts with the transfer; that of each further piece with the delivery before it. */
  #waitFromNow(): void {
    if (this.#total === 0) return
    if (this.#late === 'next piece' && this.#deadline !== undefined) return this.#bounds.idle.restart(this.#deadline)
    this.#late = 'next piece'
    this.#limit(this.#bounds.idle)
  }

  #limit(limit: TimeLimit): void {
    TimeLimit.stop(this.#deadline)
    this.#deadline = limit.start(this)
  }

  #finish(error: Error | undefined): void {
    if (this.#over) return
    this.#over = true
    this.#error = error
    TimeLimit.stop(this.#deadline)
    this.#signal.removeEventListener('abort', this)
    if (error !== undefined) this.#reject(error)
    else if (this.#whole !== undefined) this.#begin(this)
    this.#schedule()
  }

  /** Delivers at the end of the turn: pieces that arrive together are written together. */
  #schedule(): void {
    if (this.#scheduled || this.#receiver === undefined) return
    this.#scheduled = true
    process.nextTick(deliver, this)
  }

  /** For `deliver`. */
  deliver(): void {
    this.#scheduled = false
    const receiver = this.#receiver
    if (receiver === undefined) return
    const pieces = this.#pieces
    const error = this.#error
    const whole = this.#over && error === undefined
    this.#pieces = []
    this.#size = 0
    if (this.#over) this.#receiver = undefined
    else this.#waitFromNow()
    if (pieces.length > 0 || whole) receiver.receive(pieces, whole)
    if (error !== undefined) receiver.fail(error)
    else if (this.#receiver !== undefined) this.#resume()
  }

  #resume(): void {
    if (this.#controller?.paused) this.#controller.resume()
  }
}

function deliver(transfer: Transfer): void {
  transfer.deliver()
}
