/** `(Request) => Promise<Response>`, for Hono, Next, Bun, and for calling a gateway in the same process. */
import { Readable } from 'node:stream'
import type { Exchange, Gateway, RequestBody, Sink, StreamBody } from '../../src/index.ts'
import { checkKnown, elsewhere } from '../../src/validation/known-options.ts'
import { mountPath } from './mount-path.ts'
import { ignore, isStream, requireGateway } from './node.ts'

export interface FetchMountOptions {
  /** What stands before `/v1` in the URLs. Default: nothing. */
  readonly prefix?: string
}

/** What is not the gateway's gets its 404. */
export function mount(gateway: Gateway, options: FetchMountOptions = {}): (request: Request) => Promise<Response> {
  requireGateway(gateway, "mount(gateway, { prefix: '/ai' })")
  checkKnown('mount', options, { prefix: elsewhere })
  const prefix = mountPath(options.prefix ?? '', 'prefix')
  return async (request) => {
    const exchange = new FetchExchange(request, prefix)
    const { status, headers, body } = await gateway.handle(exchange)
    return new Response(isStream(body) ? streamOf(body, exchange) : (body as BodyInit), { status, headers })
  }
}

type BodyInit = ConstructorParameters<typeof Response>[0]

/** One web `Request` as the core sees it. */
class FetchExchange implements Exchange {
  readonly method: string
  readonly target: string
  readonly base: string
  readonly headers: Record<string, string>
  readonly host: Request
  readonly #left = new AbortController()
  #body: RequestBody | undefined

  constructor(request: Request, prefix: string) {
    const { pathname, search } = new URL(request.url)
    this.method = request.method
    this.target = below(prefix, pathname) + search
    this.base = prefix
    this.headers = Object.fromEntries(request.headers)
    this.host = request
    if (request.signal.aborted) this.leave()
    else request.signal.addEventListener('abort', () => this.leave(), { once: true })
  }

  get signal(): AbortSignal {
    return this.#left.signal
  }

  /** Made when it is asked for: a refused request's body stays as it came. */
  get body(): RequestBody {
    return (this.#body ??= bodyOf(this.host))
  }

  /** The client has gone. */
  leave(): void {
    this.#left.abort()
  }
}

/** The path without the prefix; outside of it one that is nobody's. */
function below(prefix: string, path: string): string {
  if (prefix === '') return path
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : '/'
}

function bodyOf(request: Request): RequestBody {
  if (request.bodyUsed) return { state: 'lost' }
  const stream = request.body === null ? Readable.from([]) : Readable.fromWeb(request.body as never)
  stream.on('error', ignore)
  return { state: 'unread', stream }
}

function streamOf(body: StreamBody, exchange: FetchExchange): ReadableStream<Uint8Array> {
  const sink = new ControllerSink(exchange)
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        sink.controller = controller
        // With a closed sink where the request was aborted in the meantime.
        if (exchange.signal.aborted) sink.aborted()
        else exchange.signal.addEventListener('abort', () => sink.aborted(), { once: true })
        body.start(sink)
      },
      pull: () => sink.wanted(),
      cancel: () => sink.cancelled(),
    },
    { highWaterMark: 64 * 1024, size: (piece) => piece.byteLength },
  )
}

const encoder = new TextEncoder()

class ControllerSink implements Sink {
  closed = false
  controller: ReadableStreamDefaultController<Uint8Array> | undefined
  readonly #exchange: FetchExchange
  #wake: (() => void) | undefined

  constructor(exchange: FetchExchange) {
    this.#exchange = exchange
  }

  write(piece: string | Uint8Array): boolean {
    if (this.closed) return true
    this.controller?.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece)
    return (this.controller?.desiredSize ?? 0) > 0
  }

  drained(): Promise<void> {
    if (this.closed) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  end(): void {
    if (this.closed) return
    this.closed = true
    this.controller?.close()
    this.wanted()
  }

  destroy(): void {
    if (this.closed) return
    this.controller?.error(new Error('the stream was cut'))
    this.cancelled()
  }

  /** The request was aborted: reading the rest of the answer fails, as it does with `fetch`. */
  aborted(): void {
    if (this.closed) return
    this.closed = true
    this.controller?.error(new DOMException('The request was aborted.', 'AbortError'))
    this.wanted()
  }

  /** The reader has room. */
  wanted(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  /** The reader has gone. */
  cancelled(): void {
    this.closed = true
    this.#exchange.leave()
    this.wanted()
  }
}
