/**
 * The one outbound HTTP client: an undici pool for one origin, driven through `dispatch` because everything above it
 * (`request`, `fetch`) costs several times the CPU. Deadlines, abort, back-pressure and size limits live here; nothing
 * of an answer is interpreted.
 */
import type { LookupFunction } from 'node:net'
// Not from 'undici': its index sets the dispatcher of the process, and with it changes the host's own `fetch`.
import Pool from 'undici/lib/dispatcher/pool.js'
import { count, timer, type Known } from '../validation/known-options.ts'
import { longestTimerMs } from '../http/deadline.ts'
import { parseMediaType } from '../http/media-type.ts'
import { tryNext } from './failure.ts'
import { Transfer, type Bounds } from './transfer.ts'

export interface ClientOptions {
  /** Such as `https://api.openai.com/v1`. Paths are appended to it as they are, its query goes with each of them. */
  readonly baseURL: string
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Connections to the origin at most. Default: as many as there are calls. */
  readonly connections?: number | undefined
  /** Milliseconds to open a connection. Default 10,000. */
  readonly connectMs?: number | undefined
  /** Milliseconds from sending to the first byte of the answer's body. Default 600,000: reasoning models think long. */
  readonly firstByteMs?: number | undefined
  /** Milliseconds between two pieces of the body. Default 120,000. */
  readonly idleMs?: number | undefined
  /** Bytes of a whole answer at most. Default 64 MiB. */
  readonly answerBytes?: number | undefined
  /** Bytes of any answer at most, streams included. Default 256 MiB. */
  readonly streamBytes?: number | undefined
}

/** The options of a provider that are its client's. */
export const clientOptions: Known<Omit<ClientOptions, 'baseURL' | 'headers'>> = {
  connections: count,
  connectMs: timer,
  firstByteMs: timer,
  idleMs: timer,
  answerBytes: count,
  streamBytes: count,
}

export interface VendorRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  /** Below the base URL, such as `/chat/completions`. Built from constants and encoded ids only. */
  readonly path: string
  /** Bytes, or pieces of them that are pulled as fast as the vendor reads. What they throw is what `send` throws. */
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Called when all of the request is written to the connection. */
  readonly sent?: (() => void) | undefined
}

/** Opens nothing before it sends. */
export class Client {
  readonly answerBytes: number
  /** The vendor's own origin. */
  readonly origin: string
  readonly #settings: Pool.Options
  #opened: Pool | undefined
  readonly #prefix: string
  readonly #query: string
  readonly #headers: Record<string, string>
  readonly #bounds: Bounds

  /** `lookup`: how names become addresses, where not every address will do. */
  constructor(options: ClientOptions, lookup?: LookupFunction) {
    const url = parseBaseUrl(options.baseURL)
    this.#prefix = url.pathname.replace(/\/+$/, '')
    this.#query = url.search
    this.origin = url.origin
    this.#settings = {
      connections: options.connections ?? null,
      connectTimeout: Math.min(options.connectMs ?? 10_000, longestTimerMs),
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
      ...(lookup && { connect: { lookup } }),
    }
    // Compressed answers are not asked for: a few kilobytes of them can hold gigabytes.
    this.#headers = { ...options.headers, accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'modelhatch' }
    const { firstByteMs = 600_000, idleMs = 120_000, streamBytes = 256 * 1024 * 1024 } = options
    this.#bounds = {
      firstByteMs: Math.min(firstByteMs, longestTimerMs),
      idleMs: Math.min(idleMs, longestTimerMs),
      streamBytes,
    }
    this.answerBytes = options.answerBytes ?? 64 * 1024 * 1024
  }

  get #pool(): Pool {
    return (this.#opened ??= new Pool(this.origin, this.#settings))
  }

  /** Resolves with the head of the answer, whatever its status. Rejects when there is none that can be used. */
  async send(request: VendorRequest): Promise<Transfer> {
    const { method = 'POST', path, body, headers, signal, sent } = request
    if (signal.aborted) throw signal.reason
    const transfer = new Transfer(signal, this.#bounds, sent)
    this.#pool.dispatch(
      {
        method,
        path: this.#prefix + this.#withQuery(path),
        headers: headers === undefined ? this.#headers : { ...this.#headers, ...headers },
        // Any async iterable is taken, whatever the type says: https://undici.nodejs.org/#/docs/api/Dispatcher
        body: (body ?? null) as Uint8Array | null,
      },
      transfer,
    )
    await transfer.head
    const { encoding } = transfer
    if (encoding !== undefined && encoding !== 'identity') {
      throw transfer.fail(tryNext(new Error('the vendor sent a compressed answer that was not asked for')))
    }
    return transfer
  }

  async close(): Promise<void> {
    await this.#opened?.destroy()
  }

  #withQuery(path: string): string {
    if (this.#query === '' || !path.includes('?')) return path + this.#query
    return `${path}&${this.#query.slice(1)}`
  }
}

/** Throws a `TypeError` that says what would be right. The URL itself is not repeated: it may hold a password. */
export function parseBaseUrl(baseURL: string): URL {
  const url = URL.parse(baseURL)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new TypeError('baseURL must be an http(s) URL without credentials, such as "https://api.openai.com/v1"')
  }
  return url
}

/** Whether a content type is the one expected, parameters aside. */
export function isMediaType(value: string | undefined, essence: string): boolean {
  if (value === undefined) return false
  // Most vendors write it the plain way.
  if (value.startsWith(essence) && (value.length === essence.length || value[essence.length] === ';')) return true
  return parseMediaType(value)?.essence === essence
}
