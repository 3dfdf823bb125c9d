import type { Mountable, RequestBody } from '../../src/index.ts'
import { failedBody } from './failed-body.ts'
import { setStream } from './koa-stream.ts'
import { linger } from './linger.ts'
import { isMountPath, isProbe, mountPath } from './mount-path.ts'
import {
  abandon,
  bodyOf,
  isClosed,
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
  /** The HTTP method. */
  readonly method: string
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
  /** Reports an error to the app, and responds with it if nothing has been sent yet. */
  onerror(error: Error): void
}

type Middleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown>

/**
 * Mounts a gateway in a Koa 2 or 3 app, below `prefix` (with or without `/v1` at its end), or at the root without one. All
 * other requests are passed on unchanged. Throws a `TypeError` if it is not given a gateway or the prefix does not begin
 * with a slash.
 *
 * @example
 * ```ts
 * app.use(mount('/ai', gateway)) // serves /ai/v1/chat/completions and the others
 * ```
 */
export function mount(prefix: string, gateway: Mountable): Middleware
export function mount(gateway: Mountable): Middleware
export function mount(first: string | Mountable, second?: Mountable): Middleware {
  const { prefix, gateway } = mounted(first, second, 'mount')
  return async (context, next) => {
    const { req, request } = context
    const target = below(prefix, context)
    if (target === undefined || !gateway.serves(target)) {
      return isProbe(req.method, req.url ?? '/', prefix) ? void (context.status = 200) : next()
    }
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
export function recover(prefix: string, gateway: Mountable): Middleware
export function recover(gateway: Mountable): Middleware
export function recover(first: string | Mountable, second?: Mountable): Middleware {
  const { prefix, gateway } = mounted(first, second, 'recover')
  return async (context, next) => {
    try {
      return await next()
    } catch (error) {
      const target = below(prefix, context)
      const body = failedBody(error)
      if (target === undefined || !gateway.serves(target) || body === undefined || context.res.headersSent) throw error
      return answer(gateway, context, target, body)
    }
  }
}

function mounted(first: string | Mountable, second: Mountable | undefined, name: string) {
  const [path, gateway] = typeof first === 'string' ? [first, second] : ['', second === undefined ? first : undefined]
  requireGateway(gateway, `app.use(${name}('/ai', gateway)) or app.use(${name}(gateway))`)
  return { prefix: mountPath(path, 'path'), gateway }
}

async function answer(gateway: Mountable, context: KoaContext, target: string, body: RequestBody): Promise<void> {
  const { req, res } = context
  ignoreDisconnects(context)
  const exchange = new NodeExchange({ request: req, response: res, target, body, host: context })
  const reply = linger(req, await gateway.handle(exchange))
  if (res.headersSent) return abandon(reply.body)
  context.status = reply.status
  for (const name in reply.headers) context.set(name, reply.headers[name] as string)
  if (isStream(reply.body)) setStream(context, reply.body)
  else context.body = asBody(reply.body)
}

/** A client that disconnects or sends malformed HTTP is no error of the app, but Koa would report each of them, with a stack. */
function ignoreDisconnects(context: KoaContext): void {
  const { req, res } = context
  const report = context.onerror.bind(context)
  const onerror = (error: Error | null) => {
    const ofConnection = error !== null && (error === req.socket.errored || error === res.stream?.errored)
    if (error !== null && !ofConnection && !isClients(error, res)) report(error)
  }
  Object.assign(context, { onerror })
}

/**
 * Whether an error says only that the client has closed the response, on which `stream.pipeline` was writing, or that it
 * has sent malformed HTTP, on which Node closes the connection.
 */
function isClients(error: unknown, res: NodeResponse): boolean {
  const { code } = Object(error) as { code?: unknown }
  return (
    (code === 'ERR_STREAM_PREMATURE_CLOSE' && isClosed(res)) || (typeof code === 'string' && code.startsWith('HPE_'))
  )
}

/** The target below the prefix; undefined for targets outside it. */
function below(prefix: string, { req: { url: target = '/' }, originalUrl }: KoaContext): string | undefined {
  if (prefix === '') return isMountPath(target, originalUrl) ? target.slice(1) : target
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0].length ?? 0
  if (!target.startsWith(prefix, origin)) return undefined
  const rest = target.slice(origin + prefix.length)
  return /^(?:$|[/?])/.test(rest) ? rest : undefined
}

function asBody(body: string | Uint8Array): string | Buffer {
  return typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}
