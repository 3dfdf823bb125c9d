import { Readable } from 'node:stream'
import type { Sink, StreamBody } from '../../src/index.ts'
import { ignore } from '../../src/http/ignore.ts'
import { cut, ResponseSink, type NodeResponse } from './exchange.ts'
import { unsentBy } from './unsent.ts'

/** The part of a Koa context that a streamed body needs. */
interface Context {
  readonly res: NodeResponse
  readonly method: string
  readonly status: number
  body: unknown
}

/** Statuses that Koa sends without a body. */
const bodiless = [204, 205, 304]

/**
 * Sets a streamed body. Other middleware sees a readable stream, which it may read, wrap or replace; if none does, the
 * body is written to the response directly. Koa's own way, `stream.pipeline`, costs more CPU and memory than the rest of
 * the stream, and reports every client that disconnects as an error of the app.
 */
export function setStream(context: Context, body: StreamBody): void {
  const sink = new ReadableSink(body, context.res)
  context.body = sink.stream
  let replaced = false
  const isLeftToUs = () =>
    !replaced &&
    context.body === sink.stream &&
    !sink.isUsed &&
    !context.res.headersSent &&
    context.method !== 'HEAD' &&
    !bodiless.includes(context.status)
  const send = () => {
    if (isLeftToUs()) sink.sendDirectly()
  }
  // Koa reads `respond` when all middleware has run: false means that the response is not Koa's to send. Middleware may
  // read it before, so the headers are sent only when the functions that wait for nothing else have returned.
  Object.defineProperty(context, 'respond', {
    configurable: true,
    get() {
      if (sink.isDirect) return false
      if (!isLeftToUs()) return true
      process.nextTick(send)
      return false
    },
    set(value: unknown) {
      replaced = true
      Object.defineProperty(context, 'respond', { value, writable: true, configurable: true })
    },
  })
}

/** A streamed body as a readable stream, which starts when it is first read. */
class ReadableSink implements Sink {
  readonly stream: Readable
  readonly #body: StreamBody
  readonly #response: NodeResponse
  /** Whether the body goes to the response, and not through `stream`. */
  isDirect = false
  #started = false
  #ended = false
  #wake: (() => void) | undefined

  constructor(body: StreamBody, response: NodeResponse) {
    this.#body = body
    this.#response = response
    this.stream = new Readable({
      highWaterMark: 64 * 1024,
      read: () => this.#resume(),
      // Starts the body also if the stream was never read, so that it can clean up: the client may have disconnected, or
      // other middleware may have replaced the body.
      destroy: (error, done) => {
        this.#resume()
        done(error)
      },
    })
    this.stream.on('error', ignore)
  }

  /** Whether other middleware reads the stream or waits for one of its events. Koa 2 listens to `error` only. */
  get isUsed(): boolean {
    return this.#started || this.stream.eventNames().some((name) => name !== 'error')
  }

  get closed(): boolean {
    return this.#ended || this.stream.destroyed
  }

  get unsent(): number | undefined {
    return unsentBy(this.#response)
  }

  sendDirectly(): void {
    this.isDirect = this.#started = true
    this.#body.start(new ResponseSink(this.#response))
  }

  write(piece: string | Uint8Array): boolean {
    return this.closed || this.stream.push(piece)
  }

  drained(): Promise<void> {
    if (this.closed) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  end(): void {
    if (this.closed) return
    this.#ended = true
    this.stream.push(null)
  }

  destroy(): void {
    // Koa 2 leaves the response open when the stream it pipes is destroyed.
    cut(this.#response)
    this.stream.destroy()
  }

  /** Starts the body on the first call, and resolves `drained`. */
  #resume(): void {
    if (!this.#started) {
      this.#started = true
      this.#body.start(this)
    }
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}
