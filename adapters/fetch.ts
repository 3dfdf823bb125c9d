/** `(Request) => Promise<Response>`, for Hono, Next, Bun, and for calling a gateway in the same process. */
import { Readable } from 'node:stream'
import type { Gateway, RequestBody, Sink, StreamBody } from '../src/index.ts'

export interface FetchMountOptions {
  /** What stands before `/v1` in the URLs. Default: nothing. */
  readonly prefix?: string
}

export function mount(gateway: Gateway, options: FetchMountOptions = {}): (request: Request) => Promise<Response> {
  const prefix = (options.prefix ?? '').replace(/\/+$/, '')
  return async (request) => {
    const { pathname, search } = new URL(request.url)
    const target = pathname.startsWith(prefix) ? pathname.slice(prefix.length) + search : pathname + search
    const left = new AbortController()
    if (request.signal.aborted) left.abort()
    else request.signal.addEventListener('abort', () => left.abort(), { once: true })
    const reply = await gateway.handle({
      method: request.method,
      target,
      headers: Object.fromEntries(request.headers),
      body: bodyOf(request),
      signal: left.signal,
      host: request,
    })
    const { body, status, headers } = reply
    if (typeof body === 'object' && 'start' in body) return new Response(streamOf(body, left), { status, headers })
    return new Response(body as ConstructorParameters<typeof Response>[0], { status, headers })
  }
}

function bodyOf(request: Request): RequestBody {
  if (request.bodyUsed) return { state: 'lost' }
  const stream = request.body === null ? Readable.from([]) : Readable.fromWeb(request.body as never)
  stream.on('error', () => undefined)
  return { state: 'unread', stream }
}

function streamOf(body: StreamBody, left: AbortController): ReadableStream<Uint8Array> {
  let drained: (() => void) | undefined
  let closed = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const encoder = new TextEncoder()
        const sink: Sink = {
          get closed() {
            return closed
          },
          write(piece) {
            if (closed) return true
            controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece)
            return (controller.desiredSize ?? 0) > 0
          },
          drained: () =>
            closed
              ? Promise.resolve()
              : new Promise((resolve) => {
                  drained = resolve
                }),
          end() {
            if (closed) return
            closed = true
            controller.close()
          },
          destroy() {
            if (closed) return
            closed = true
            controller.error(new Error('the stream was cut'))
            left.abort()
            drained?.()
          },
        }
        body.start(sink)
      },
      pull() {
        drained?.()
        drained = undefined
      },
      cancel() {
        closed = true
        left.abort()
        drained?.()
      },
    },
    { highWaterMark: 64 * 1024, size: (piece) => piece.byteLength },
  )
}
