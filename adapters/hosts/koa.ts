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
} from './exchange.ts'

/** The part of a Koa context that `mount` and `recover` use. */
export interface KoaContext {
  /** Node's request. */
  readonly req: NodeRequest
  /** Node's response. */
  readonly res: NodeResponse
  /** Koa's request, with the bodies that a body parser has set. */
  readonly request: {
    /** The parsed body. */
    readonly body?: unknown
    /** The unparsed body. */
    readonly rawBody?: unknown
  }
  /** The request target before any mount path was removed. */
  readonly originalUrl: string
  /** The client's address; respects `app.proxy`. */
  readonly ip: string
  /** The HTTP status. */
  status: number
  /** The response body: text, bytes or a stream. */
  body: unknown
  /** Sets a response header. */
  set(name: string, value: string): void
}

type Middleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown>

/**
 * Mounts a gateway in a Koa 2 or 3 app, below `prefix` (with or without `/v1` at its end), or at the root without one. All
 * other requests are passed on unchanged. Throws a `TypeError` if it is not given a gateway or the prefix does not begin
 * with a slash.
 *
 * If a client disconnects during a stream, Koa emits an `error` event with the code `ERR_STREAM_PREMATURE_CLOSE` on the app.
 * It is harmless.
 *
 * @example
 * ```ts
 * app.use(mount('/ai', gateway)) // serves /ai/v1/chat/completions and the others
 * ```
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
 * For apps with a body parser before `mount`: add this middleware before the parser, with the same arguments as `mount`.
 * Requests below `prefix` that the parser rejects, for example because of invalid JSON, then get the gateway's error
 * format instead of Koa's.
 *
 * @example
 * ```ts
 * app.use(recover('/ai', gateway))
 * app.use(bodyParser())
 * app.use(mount('/ai', gateway))
 * ```
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

/** The target below the prefix; undefined for targets outside it. */
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

/** A streamed reply body as a readable stream, which Koa and its middleware expect. */
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
