import { Readable } from 'node:stream'
import type { Exchange, Mountable, RequestBody, Sink, StreamBody } from '../../src/index.ts'
import { checkKnown, elsewhere } from '../../src/records/known-options.ts'
import { ignore } from '../../src/http/ignore.ts'
import { isProbe, mountPath } from './mount-path.ts'
import { isStream, requireGateway } from './exchange.ts'

/** Options of `mount`. */
export interface FetchMountOptions {
  /** The path before `/v1` in the URLs, such as `/ai`; a `/v1` at its end is ignored. Default: none. */
  readonly prefix?: string
}

/**
 * Makes a `(Request) => Promise<Response>` handler of a gateway, for Hono, Next.js and Bun, or to call a gateway in the
 * same process. All other paths get the gateway's 404. Throws a `TypeError` for invalid arguments or options.
 *
 * @example
 * ```ts
 * const handle = mount(gateway, { prefix: '/ai' })
 * hono.all('/ai/*', (context) => handle(context.req.raw))
 * ```
 */
export function mount(gateway: Mountable, options: FetchMountOptions = {}): (request: Request) => Promise<Response> {
  requireGateway(gateway, "mount(gateway, { prefix: '/ai' })")
  checkKnown('mount', options, { prefix: elsewhere })
  const prefix = mountPath(options.prefix ?? '', 'prefix')
  return async (request) => {
    const exchange = new FetchExchange(request, prefix)
    const isServed = gateway.serves(exchange.target)
    if (!isServed && isProbe(request.method, new URL(request.url).pathname, prefix)) return new Response()
    const { status, headers, body } = await gateway.handle(exchange)
    return new Response(isStream(body) ? streamOf(body, exchange) : (body as BodyInit), { status, headers })
  }
}

type BodyInit = ConstructorParameters<typeof Response>[0]

/** The `Exchange` of one web `Request`. */
class FetchExchange implements Exchange {
  readonly method: string
  readonly target: string
  readonly base: string
  readonly headers: Record<string, string>
  readonly host: Request
  readonly #client = new AbortController()
  #body: RequestBody | undefined

  constructor(request: Request, prefix: string) {
    const { host, pathname, search } = new URL(request.url)
    this.method = request.method
    this.target = below(prefix, pathname) + search
    this.base = prefix
    // Requests that were made in this process have no such header.
    this.headers = { host, ...Object.fromEntries(request.headers) }
    this.host = request
    if (request.signal.aborted) this.disconnect()
    else request.signal.addEventListener('abort', () => this.disconnect(), { once: true })
  }

  get signal(): AbortSignal {
    return this.#client.signal
  }

  /** Created on first use, so that the body of a rejected request stays untouched. */
  get body(): RequestBody {
    return (this.#body ??= bodyOf(this.host))
  }

  disconnect(): void {
    this.#client.abort()
  }
}

/** The path below the prefix; `/`, which no endpoint has, for paths outside it. */
function below(prefix: string, path: string): string {
  if (prefix === '') return path
  if (path === prefix) return ''
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
        // If the request was aborted meanwhile, the body starts with a closed sink, so that it can clean up.
        if (exchange.signal.aborted) sink.aborted()
        else exchange.signal.addEventListener('abort', () => sink.aborted(), { once: true })
        body.start(sink)
      },
      pull: () => sink.resume(),
      cancel: () => sink.cancel(),
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
    this.resume()
  }

  destroy(): void {
    if (this.closed) return
    this.controller?.error(new Error('the response stream was cut off'))
    this.cancel()
  }

  /** The request was aborted: reading the rest of the response fails, as with `fetch`. */
  aborted(): void {
    if (this.closed) return
    this.closed = true
    this.controller?.error(new DOMException('The request was aborted.', 'AbortError'))
    this.resume()
  }

  /** Resolves `drained`: the reader has capacity again, or the stream is closed. */
  resume(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  /** The reader has cancelled the stream. */
  cancel(): void {
    this.closed = true
    this.#exchange.disconnect()
    this.resume()
  }
}
