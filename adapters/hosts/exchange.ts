/**
 * Connects `node:http` to the gateway's `Exchange` and `Reply`. The other Node adapters build on this file and
 * `linger.ts` and add only what their framework does differently. The request and response types are structural, so that
 * they fit any version of any framework.
 */
import type { Readable } from 'node:stream'
import { Canceller } from '../../src/http/cancellation.ts'
import { closedSink } from '../../src/http/exchange.ts'
import { ignore } from '../../src/http/ignore.ts'
import type { Exchange, Mountable, Reply, RequestBody, Sink, StreamBody } from '../../src/index.ts'
import { linger } from './linger.ts'
import { unsentBy } from './unsent.ts'

/** The part of `http.IncomingMessage` or `http2.Http2ServerRequest` that the adapters use. */
export interface NodeRequest extends Readable {
  /** The HTTP method. */
  readonly method?: string | undefined
  /** The request target. */
  readonly url?: string | undefined
  /** The headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** 1 or 2. */
  readonly httpVersionMajor: number
  /** Whether the whole body has arrived. */
  readonly complete: boolean
  /** The connection, for the client's address. */
  readonly socket: {
    /** The client's IP address. */
    readonly remoteAddress?: string | undefined
    /** The error that closed the connection. */
    readonly errored?: Error | null
  }
  /** Set by a body parser of the host. */
  readonly body?: unknown
  /** Set by a body parser of the host to the unparsed body. */
  readonly rawBody?: unknown
}

/** The part of `http.ServerResponse` or `http2.Http2ServerResponse` that the adapters use. */
export interface NodeResponse {
  /** The HTTP status. */
  statusCode: number
  /** Whether the headers have been sent. */
  readonly headersSent: boolean
  /** Whether everything has been passed to the operating system. */
  readonly writableFinished: boolean
  /** Whether `end` was called. */
  readonly writableEnded: boolean
  /** HTTP/1 only. */
  readonly closed?: boolean
  /** HTTP/2 only. */
  readonly stream?:
    | {
        /** Whether the stream is closed. */
        readonly destroyed: boolean
        /** The error that closed the stream. */
        readonly errored?: Error | null
        /** Resets the stream with an error code of RFC 9113. */
        close(code: number): void
      }
    | undefined
  /** Sets a response header. */
  setHeader(name: string, value: string): unknown
  /** Sends a piece of the body. False: wait for `drain`. */
  write(piece: string | Uint8Array): boolean
  /** Sends the last piece and ends the response. */
  end(piece?: string | Uint8Array): unknown
  /** Closes the connection. */
  destroy(): unknown
  /** Adds a listener for one event. */
  once(event: 'drain' | 'close', listener: () => void): unknown
  /** Removes a listener. */
  off(event: 'drain' | 'close', listener: () => void): unknown
  /** Adds a listener. */
  on(event: 'error', listener: () => void): unknown
  /** Added by compression middleware: sends what it has buffered. */
  flush?: () => void
}

/** Throws a `TypeError` that shows how to mount, unless `given` is a gateway. */
export function requireGateway(given: unknown, form: string): asserts given is Mountable {
  if (typeof (given as Partial<Mountable> | null | undefined)?.handle === 'function') return
  throw new TypeError(`mount: expected ${form}, where gateway is what createGateway() returned`)
}

/** Serves one request. `target` is the request target below the mount path. Never rejects. */
export async function answer(
  gateway: Mountable,
  request: NodeRequest,
  response: NodeResponse,
  target: string,
  body: RequestBody = bodyOf(request),
): Promise<void> {
  const exchange = new NodeExchange({ request, response, target, body, host: request })
  const reply = linger(request, await gateway.handle(exchange))
  try {
    if (isClosed(response) || response.headersSent) return abandon(reply.body)
    response.statusCode = reply.status
    for (const name in reply.headers) response.setHeader(name, reply.headers[name] as string)
    if (isStream(reply.body)) return reply.body.start(new ResponseSink(response))
    response.setHeader('content-length', String(Buffer.byteLength(reply.body)))
    response.end(request.method === 'HEAD' ? undefined : reply.body)
  } catch {
    // Throws only if the host has modified the response object. All that is left is to cut the connection.
    cut(response)
    abandon(reply.body)
  }
}

export interface NodeExchangeParts {
  readonly request: NodeRequest
  readonly response: NodeResponse
  readonly target: string
  readonly body: RequestBody
  /** Passed to `authenticate`. A framework's own `ip` respects the proxies that the host trusts. */
  readonly host: object & { readonly ip?: string | undefined; readonly originalUrl?: string }
}

/** The `Exchange` of one request and its response. */
export class NodeExchange implements Exchange {
  readonly method: string
  readonly target: string
  readonly headers: NodeRequest['headers']
  readonly body: RequestBody
  readonly host: NodeExchangeParts['host']
  readonly #request: NodeRequest
  readonly #response: NodeResponse
  #client: Canceller | undefined

  constructor({ request, response, target, body, host }: NodeExchangeParts) {
    this.method = request.method ?? 'GET'
    this.target = target
    this.headers = request.headers
    this.body = body
    this.host = host
    this.#request = request
    this.#response = response
    request.on('error', ignore)
    response.on('error', ignore)
  }

  /** The path that the host removed before the target; undefined if its routers also changed the rest. */
  get base(): string | undefined {
    const { originalUrl } = this.host
    if (originalUrl?.startsWith('/') !== true || !originalUrl.endsWith(this.target)) return undefined
    return originalUrl.slice(0, originalUrl.length - this.target.length)
  }

  get ip(): string | undefined {
    return this.host.ip ?? this.#request.socket?.remoteAddress
  }

  get signal(): AbortSignal {
    return this.cancellation.signal
  }

  /**
   * Cancelled when the client disconnects. Only the response can show this, because the request closes as soon as its body
   * is read. Both flags are needed: over HTTP/2 a cancelled response is `writableFinished`, over HTTP/1 a response that is
   * still being sent is `writableEnded`.
   */
  get cancellation(): Canceller {
    if (this.#client !== undefined) return this.#client
    const response = this.#response
    const client = (this.#client = new Canceller())
    if (isClosed(response)) client.abort(undefined)
    else {
      response.once('close', () => {
        if (!response.writableEnded || !response.writableFinished) client.abort(undefined)
      })
    }
    return client
  }
}

/**
 * The state of the request body. Depends on whether the stream was read, not on the presence of `body`: parsers also set
 * that on requests whose body they did not read.
 */
export function bodyOf(
  request: NodeRequest,
  parsed: unknown = request.body,
  raw: unknown = request.rawBody,
): RequestBody {
  if (!request.readableDidRead && !request.readableEnded) {
    // The host already reads the stream, for example to log it: pause it until the gateway reads it as well.
    if (request.readableFlowing === true) request.pause()
    return { state: 'unread', stream: request }
  }
  if (typeof raw === 'string' || raw instanceof Uint8Array) return { state: 'text', text: raw }
  if (typeof parsed === 'string' || parsed instanceof Uint8Array) return { state: 'text', text: parsed }
  if (typeof parsed === 'object' && parsed !== null) return { state: 'parsed', value: parsed }
  return { state: 'lost' }
}

/** Writes a streamed body to the response. */
export class ResponseSink implements Sink {
  readonly #response: NodeResponse

  constructor(response: NodeResponse) {
    this.#response = response
  }

  get closed(): boolean {
    return this.#response.writableEnded || isClosed(this.#response)
  }

  get unsent(): number | undefined {
    return unsentBy(this.#response)
  }

  write(piece: string | Uint8Array): boolean {
    if (this.closed) return true
    const writable = this.#response.write(piece)
    this.#response.flush?.()
    return writable
  }

  drained(): Promise<void> {
    const response = this.#response
    if (this.closed) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        response.off('drain', done)
        response.off('close', done)
        resolve()
      }
      response.once('drain', done)
      response.once('close', done)
    })
  }

  end(): void {
    if (!this.#response.writableEnded) this.#response.end()
  }

  destroy(): void {
    cut(this.#response)
  }
}

/** Discards a body that will not be sent. A stream is started all the same, so that it can clean up. */
export function abandon(body: Reply['body']): void {
  if (isStream(body)) body.start(closedSink)
}

export function isStream(body: Reply['body']): body is StreamBody {
  return typeof body === 'object' && 'start' in body
}

/** `INTERNAL_ERROR` of RFC 9113. */
const internalError = 2

/** Ends a response visibly incomplete: over HTTP/2, a stream that is only destroyed looks complete. */
export function cut(response: NodeResponse): void {
  if (response.stream === undefined) response.destroy()
  else response.stream.close(internalError)
}

/** Whether the connection, or over HTTP/2 the stream, is closed. */
export function isClosed(response: NodeResponse): boolean {
  return response.closed ?? response.stream?.destroyed ?? false
}
