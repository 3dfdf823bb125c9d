/**
 * `node:http` on one side, `Exchange` and `Reply` on the other. Every trap of hosting lives here, once: the other
 * adapters add only what their framework does differently. The types of requests and responses are structural, so any
 * version of any framework fits.
 */
import type { Readable } from 'node:stream'
import type { Exchange, Gateway, Reply, RequestBody, Sink } from '../src/index.ts'

/** The part of `http.IncomingMessage`, or of its HTTP/2 twin, that is used. */
export interface NodeRequest extends Readable {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly httpVersionMajor: number
  readonly complete: boolean
  readonly socket: { readonly remoteAddress?: string | undefined }
  /** What a body parser of the host left. */
  readonly body?: unknown
  readonly rawBody?: unknown
}

/** The part of `http.ServerResponse`, or of its HTTP/2 twin, that is used. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly writableFinished: boolean
  readonly writableEnded: boolean
  readonly closed: boolean
  setHeader(name: string, value: string): unknown
  flushHeaders(): void
  write(piece: string | Uint8Array): boolean
  end(piece?: string | Uint8Array): unknown
  destroy(): unknown
  once(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
  on(event: 'error', listener: () => void): unknown
  /** Added by compression middleware: hands on what it holds back. */
  flush?: () => void
}

/** Serves a gateway on a bare `http.createServer`. What is not the gateway's gets its 404. */
export function mount(gateway: Gateway): (request: NodeRequest, response: NodeResponse) => void {
  return (request, response) => void answer(gateway, request, response, request.url ?? '/')
}

/** The request as the core takes it. `target` is the request target below the mount path. */
export function exchangeOf(request: NodeRequest, response: NodeResponse, target: string, body?: RequestBody): Exchange {
  return {
    method: request.method ?? 'GET',
    target,
    headers: request.headers,
    body: body ?? bodyOf(request),
    signal: signalOf(response),
    ip: request.socket?.remoteAddress,
    host: request,
  }
}

/** Answers one request. Never rejects. */
export async function answer(
  gateway: Gateway,
  request: NodeRequest,
  response: NodeResponse,
  target: string,
  body?: RequestBody,
): Promise<void> {
  request.on('error', ignore)
  response.on('error', ignore)
  const reply = await gateway.handle(exchangeOf(request, response, target, body))
  if (response.closed || response.headersSent) return
  writeHead(request, response, reply)
  if (typeof reply.body === 'object' && 'start' in reply.body) {
    response.flushHeaders()
    reply.body.start(sinkOf(response))
  } else response.end(reply.body)
}

function writeHead(request: NodeRequest, response: NodeResponse, reply: Reply): void {
  response.statusCode = reply.status
  for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value)
  if (typeof reply.body === 'string') response.setHeader('content-length', String(Buffer.byteLength(reply.body)))
  else if (reply.body instanceof Uint8Array) response.setHeader('content-length', String(reply.body.length))
  // A refusal that did not wait for the body: the client is told not to send the rest of it. HTTP/2 has its own way.
  if (!request.complete && request.httpVersionMajor === 1) response.setHeader('connection', 'close')
}

/**
 * What is left of the body. Decided by whether the stream was read, never by the presence of `body`: parsers set that
 * on requests which they did not read.
 */
export function bodyOf(
  request: NodeRequest,
  parsed: unknown = request.body,
  raw: unknown = request.rawBody,
): RequestBody {
  if (!request.readableDidRead && !request.readableEnded) return { state: 'unread', stream: request }
  if (typeof raw === 'string' || raw instanceof Uint8Array) return { state: 'text', text: raw }
  if (typeof parsed === 'string' || parsed instanceof Uint8Array) return { state: 'text', text: parsed }
  if (typeof parsed === 'object' && parsed !== null) return { state: 'parsed', value: parsed }
  return { state: 'lost' }
}

/** Aborted when the connection closes before the response was finished: the request's own close comes too early. */
function signalOf(response: NodeResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}

function sinkOf(response: NodeResponse): Sink {
  return {
    get closed() {
      return response.closed || response.writableEnded
    },
    write(piece) {
      if (response.closed || response.writableEnded) return true
      const room = response.write(piece)
      response.flush?.()
      return room
    },
    drained() {
      if (response.closed) return Promise.resolve()
      return new Promise((resolve) => {
        const done = () => {
          response.off('drain', done)
          response.off('close', done)
          resolve()
        }
        response.once('drain', done)
        response.once('close', done)
      })
    },
    end() {
      if (!response.writableEnded) response.end()
    },
    destroy: () => void response.destroy(),
  }
}

function ignore(): void {}
