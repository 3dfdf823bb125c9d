/** `app.use(mount('/ai', gateway))` for Koa 2 and 3. */
import { Readable } from 'node:stream'
import type { Gateway, RequestBody, Sink, StreamBody } from '../../src/index.ts'
import { failedBody } from './failed-body.ts'
import { linger } from './linger.ts'
import { mountPath } from './mount-path.ts'
import {
  abandon,
  bodyOf,
  cut,
  ignore,
  isStream,
  NodeExchange,
  requireGateway,
  type NodeRequest,
  type NodeResponse,
} from './node.ts'

/** The part of a Koa context that is used. */
export interface KoaContext {
  readonly req: NodeRequest
  readonly res: NodeResponse
  readonly request: { readonly body?: unknown; readonly rawBody?: unknown }
  /** The target before any mount path was taken off. */
  readonly originalUrl: string
  /** Respects the proxies that the host trusts. */
  readonly ip: string
  status: number
  body: unknown
  set(name: string, value: string): void
}

type Middleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown>

/**
 * Serves the gateway below `prefix`, with or without the `/v1` at its end; without one, at the root. Everything else goes on to the host untouched. A client
 * that leaves in the middle of a stream is reported by Koa itself, as an `error` event of the app with the code
 * `ERR_STREAM_PREMATURE_CLOSE`; it does no harm.
 */
export function mount(prefix: string, gateway: Gateway): Middleware
export function mount(gateway: Gateway): Middleware
export function mount(first: string | Gateway, second?: Gateway): Middleware {
  const { prefix, gateway } = mounted(first, second, 'mount')
  return async (context, next) => {
    const { req, request } = context
    const target = below(prefix, req.url ?? '/')
    if (target === undefined || !gateway.serves(target)) return next()
    return answer(gateway, context, target, bodyOf(req, request.body, request.rawBody))
  }
}

/**
 * For hosts whose body parsers stand in front of `mount`: put this in front of them, with the same arguments. What they
 * refuse below `prefix`, broken JSON for instance, is then answered as the gateway answers it, and not with Koa's page.
 */
export function recover(prefix: string, gateway: Gateway): Middleware
export function recover(gateway: Gateway): Middleware
export function recover(first: string | Gateway, second?: Gateway): Middleware {
  const { prefix, gateway } = mounted(first, second, 'recover')
  return async (context, next) => {
    try {
      return await next()
    } catch (error) {
      const target = below(prefix, context.req.url ?? '/')
      const body = failedBody(error)
      if (target === undefined || !gateway.serves(target) || body === undefined || context.res.headersSent) throw error
      return answer(gateway, context, target, body)
    }
  }
}

function mounted(first: string | Gateway, second: Gateway | undefined, name: string) {
  const [path, gateway] = typeof first === 'string' ? [first, second] : ['', second === undefined ? first : undefined]
  requireGateway(gateway, `app.use(${name}('/ai', gateway)) or app.use(${name}(gateway))`)
  return { prefix: mountPath(path, 'path'), gateway }
}

async function answer(gateway: Gateway, context: KoaContext, target: string, body: RequestBody): Promise<void> {
  const { req, res } = context
  const exchange = new NodeExchange({ request: req, response: res, target, body, host: context })
  const reply = linger(req, await gateway.handle(exchange))
  if (res.headersSent) return abandon(reply.body)
  context.status = reply.status
  for (const name in reply.headers) context.set(name, reply.headers[name] as string)
  context.body = isStream(reply.body) ? new ReadableSink(reply.body, res).stream : asBody(reply.body)
}

/** The target without the prefix; undefined outside of it. */
function below(prefix: string, target: string): string | undefined {
  if (prefix === '') return target
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0].length ?? 0
  if (!target.startsWith(prefix, origin)) return undefined
  const rest = target.slice(origin + prefix.length)
  return rest.startsWith('/') ? rest : undefined
}

function asBody(body: string | Uint8Array): string | Buffer {
  return typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/** A reply body as the readable stream that Koa, and the middleware in front of us, expect. */
class ReadableSink implements Sink {
  readonly stream: Readable
  readonly #body: StreamBody
  readonly #response: NodeResponse
  #started = false
  #ended = false
  #wake: (() => void) | undefined

  constructor(body: StreamBody, response: NodeResponse) {
    this.#body = body
    this.#response = response
    this.stream = new Readable({
      highWaterMark: 64 * 1024,
      read: () => this.#wanted(),
      // Also the way out of a stream that nobody ever reads, because the client left or another body took its place.
      destroy: (error, done) => {
        this.#wanted()
        done(error)
      },
    })
    this.stream.on('error', ignore)
  }

  get closed(): boolean {
    return this.#ended || this.stream.destroyed
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

  #wanted(): void {
    if (!this.#started) {
      this.#started = true
      this.#body.start(this)
    }
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}
