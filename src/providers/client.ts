/** The outbound HTTP client of all providers. It adds timeouts and size limits, and does not interpret responses. */
import type { LookupFunction } from 'node:net'
// Not from 'undici': its index replaces the global dispatcher, and with it the behaviour of the host's own `fetch`. The path
// is not public, so package.json accepts patch releases only.
import Pool from 'undici/lib/dispatcher/pool.js'
import { count, timer, type Known } from '../validation/known-options.ts'
import { longestTimerMs } from '../http/deadline.ts'
import { parseMediaType } from '../http/media-type.ts'
import { tryNext } from './failure.ts'
import { Transfer, type Bounds } from './transfer.ts'

/** The connection to a vendor: base URL, headers, timeouts and size limits. */
export interface ClientOptions {
  /** Such as `https://api.openai.com/v1`. Paths are appended to it; its query is sent with every request. */
  readonly baseURL: string
  /** Sent with every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Maximum number of connections to the origin. Default: no limit. */
  readonly connections?: number | undefined
  /** Timeout for opening a connection, in milliseconds. Default 10,000. */
  readonly connectMs?: number | undefined
  /** Timeout from sending the request to the first byte of the body, in milliseconds. Default 600,000: reasoning takes minutes. */
  readonly firstByteMs?: number | undefined
  /** Timeout between two pieces of the body, in milliseconds. Default 120,000. */
  readonly idleMs?: number | undefined
  /** Maximum size of a non-streaming response, in bytes. Default 64 MiB. */
  readonly answerBytes?: number | undefined
  /** Maximum size of any response, streams included, in bytes. Default 256 MiB. */
  readonly streamBytes?: number | undefined
}

/** Validation of the options that providers pass on to their client. */
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
  /** Below the base URL, such as `/chat/completions`. Must consist of constants and encoded ids only. */
  readonly path: string
  /** The bytes, or an iterable that is read at the vendor's pace. `send` throws the errors of the iterable. */
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Called once the whole request has been written to the connection. */
  readonly sent?: (() => void) | undefined
}

/**
 * An HTTP client for one origin: an undici pool that is opened at the first request. It uses `dispatch` directly, because
 * `request` and `fetch` cost several times the CPU.
 */
export class Client {
  /** See `ClientOptions`. */
  readonly answerBytes: number
  /** The origin of the base URL. */
  readonly origin: string
  readonly #settings: Pool.Options
  #opened: Pool | undefined
  readonly #prefix: string
  readonly #query: string
  readonly #headers: Record<string, string>
  readonly #bounds: Bounds

  /** `lookup` resolves host names, for clients that must not connect to every address. Default: the system's. */
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
    // No compression: a few kilobytes of it can expand to gigabytes.
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

  /** Resolves once status and headers have arrived, for any status. Throws if the connection fails or the body is compressed. */
  async send(request: VendorRequest): Promise<Transfer> {
    const { method = 'POST', path, body, headers, signal, sent } = request
    if (signal.aborted) throw signal.reason
    const transfer = new Transfer(signal, this.#bounds, sent)
    this.#pool.dispatch(
      {
        method,
        path: this.#prefix + this.#withQuery(path),
        headers: headers === undefined ? this.#headers : { ...this.#headers, ...headers },
        // undici accepts any async iterable, although its type does not: https://undici.nodejs.org/#/docs/api/Dispatcher
        body: (body ?? null) as Uint8Array | null,
      },
      transfer,
    )
    await transfer.head
    const { encoding } = transfer
    if (encoding !== undefined && encoding !== 'identity') {
      throw transfer.fail(
        tryNext(new Error('the vendor sent a compressed response to a request for an uncompressed one')),
      )
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

/** Throws a `TypeError` that describes a valid URL, without repeating the given one: it may contain a password. */
export function parseBaseUrl(baseURL: string): URL {
  const url = URL.parse(baseURL)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new TypeError('baseURL must be an http(s) URL without credentials, such as "https://api.openai.com/v1"')
  }
  return url
}

/** Whether a content type equals `essence`, apart from its parameters. */
export function isMediaType(value: string | undefined, essence: string): boolean {
  if (value === undefined) return false
  // The fast path, for the spelling that most vendors use.
  if (value.startsWith(essence) && (value.length === essence.length || value[essence.length] === ';')) return true
  return parseMediaType(value)?.essence === essence
}
