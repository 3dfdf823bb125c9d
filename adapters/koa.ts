/** `app.use(mount('/ai', gateway))` for Koa 2 and 3. */
import { Readable } from 'node:stream'
import type { Gateway, Sink, StreamBody } from '../src/index.ts'
import { bodyOf, exchangeOf, type NodeRequest, type NodeResponse } from './node.ts'

/** The part of a Koa context that is used. */
export interface KoaContext {
  readonly req: NodeRequest
  readonly res: NodeResponse
  readonly request: { readonly body?: unknown; readonly rawBody?: unknown }
  status: number
  body: unknown
  set(name: string, value: string): void
}

type Middleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown>

/** Serves the gateway below `prefix`; without one, at the root. Everything else goes on to the host untouched. */
export function mount(prefix: string, gateway: Gateway): Middleware
export function mount(gateway: Gateway): Middleware
export function mount(first: string | Gateway, second?: Gateway): Middleware {
  const gateway = typeof first === 'string' ? (second as Gateway) : first
  const prefix = typeof first === 'string' ? first.replace(/\/+$/, '') : ''

  return async (context, next) => {
    const target = below(prefix, context.req.url ?? '/')
    if (target === undefined || !gateway.serves(target)) return next()
    const body = bodyOf(context.req, context.request.body, context.request.rawBody)
    context.req.on('error', ignore)
    const reply = await gateway.handle(exchangeOf(context.req, context.res, target, body))
    context.status = reply.status
    for (const [name, value] of Object.entries(reply.headers)) context.set(name, value)
    context.body = isStream(reply.body) ? new ReplyStream(reply.body) : asBody(reply.body)
  }
}

/** The target without the prefix; undefined outside of it. */
function below(prefix: string, target: string): string | undefined {
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0] ?? ''
  const path = target.slice(origin.length)
  if (!path.startsWith(prefix)) return undefined
  return path.slice(prefix.length)
}

function isStream(body: string | Uint8Array | StreamBody): body is StreamBody {
  return typeof body === 'object' && 'start' in body
}

function asBody(body: string | Uint8Array): string | Buffer {
  return typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/** A reply body as the readable stream that Koa, and the middleware in front of us, expect. */
class ReplyStream extends Readable implements Sink {
  readonly #body: StreamBody
  #started = false
  #drained: (() => void) | undefined

  constructor(body: StreamBody) {
    super({ highWaterMark: 64 * 1024 })
    this.#body = body
    this.on('error', ignore)
  }

  write(piece: string | Uint8Array): boolean {
    return this.closed ? true : this.push(piece)
  }

  drained(): Promise<void> {
    if (this.destroyed) return Promise.resolve()
    return new Promise((resolve) => {
      this.#drained = resolve
    })
  }

  end(): void {
    if (!this.destroyed) this.push(null)
  }

  override _read(): void {
    if (this.#started) return this.#release()
    this.#started = true
    this.#body.start(this)
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#release()
    callback(error)
  }

  #release(): void {
    const drained = this.#drained
    this.#drained = undefined
    drained?.()
  }
}

function ignore(): void {}
