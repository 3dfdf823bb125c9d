/** The outbound HTTP client of all providers. It adds timeouts and size limits, and does not interpret responses. */
import type { LookupFunction } from 'node:net'
import type Pool from 'undici/lib/dispatcher/pool.js'
import { count, object, timer, type Known } from '../records/known-options.ts'
import { cancellationOf, type Cancellation } from '../http/cancellation.ts'
import { longestTimerMs } from '../http/deadline.ts'
import { TimeLimit } from '../http/time-limit.ts'
import * as usual from './answer-bounds.ts'
import type { AuthHeaders, Credentials, UnsignedRequest } from './credentials/contract.ts'
import { readError } from './answer.ts'
import type { Call } from './call.ts'
import { mayRefuse, refusalReason } from './credentials/refusal.ts'
import { ProviderError, tryNext } from './failure.ts'
import type { ResponseHead } from './reported-limits.ts'
import { Transfer, type Bounds } from './transfer.ts'
import { waitOf } from './vendor-error.ts'
import type { WholeBody } from './whole-body.ts'

/** The connection to a vendor: base URL, headers, timeouts and size limits. */
export interface ClientOptions {
  /** Such as `https://api.openai.com/v1`. Paths are appended to it; its query is sent with every request. */
  readonly baseURL: string
  /** Sent with every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Authenticates each request. Default: `headers` do. */
  readonly credentials?: Credentials | undefined
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
  credentials: object,
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
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Headers of this request alone; see `Call.headers`. */
  readonly added?: Readonly<Record<string, string>> | undefined
  readonly signal: Cancellation
  /** What the request is about, for credentials that depend on it. */
  readonly about?: Pick<Call<unknown>, 'model' | 'account' | 'conversation'> | undefined
  /** Called once the whole request has been written to the connection. */
  readonly sent?: (() => void) | undefined
  /** See `Call.answered`. */
  readonly answered?: ((head: ResponseHead) => void) | undefined
  /** Maximum size of the response, in bytes. Default: `streamBytes` of the client. */
  readonly maxBytes?: number | undefined
  /** Takes the body of a successful response that is not an event stream; `send` resolves when it is complete. */
  readonly whole?: WholeBody | undefined
}

/** How long to wait for the end of a body that needs no more reading, so that its connection can be reused. */
const settleMs = 1_000

/** From this length on, sending a body as an iterable costs little compared with the memory it takes. */
const longBytes = 8_192

/** A body that is let go of once it has been sent: undici keeps the body of a request until its response has ended. */
class LongBody implements Iterable<Uint8Array> {
  #bytes: Uint8Array | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  *[Symbol.iterator](): Generator<Uint8Array, void, void> {
    const bytes = this.#bytes as Uint8Array
    this.#bytes = undefined
    yield bytes
  }
}

function lengthOf(body: Uint8Array): Record<string, string> {
  return { 'content-length': String(body.length) }
}

/** The headers of a request with a JSON body. */
export const jsonBody: Readonly<Record<string, string>> = { 'content-type': 'application/json' }

/** What a request takes from its call, without holding it. `model`: the vendor's name for the model. */
export function sentFor(call: Call<unknown>, model: string = call.model): Omit<VendorRequest, 'path'> {
  return {
    added: call.headers,
    signal: cancellationOf(call),
    sent: call.sent,
    answered: call.answered,
    about: { model, account: call.account, conversation: call.conversation },
  }
}

/**
 * An HTTP client for one origin: an undici pool that is loaded and opened at the first request. It uses `dispatch` directly,
 * because `request` and `fetch` cost several times the CPU.
 */
export class Client {
  /** See `ClientOptions`. */
  readonly answerBytes: number
  /** The origin of the base URL. */
  readonly origin: string
  readonly #settings: Pool.Options
  #opened: Pool | undefined
  #closed = false
  readonly #prefix: string
  readonly #query: string
  /** The headers of every request, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly #credentials: Credentials | undefined
  #lastHeaders: VendorRequest['headers']
  #merged: Readonly<Record<string, string>> = {}
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
    const fixed = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'modelhatch' }
    const given = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
    this.headers = { ...Object.fromEntries(given), ...fixed }
    this.#credentials = options.credentials
    const { firstByteMs = 600_000, idleMs = 120_000, streamBytes = usual.streamBytes } = options
    this.#bounds = {
      firstByte: new TimeLimit(firstByteMs),
      idle: new TimeLimit(idleMs),
      settling: new TimeLimit(settleMs),
      streamBytes,
    }
    this.answerBytes = options.answerBytes ?? usual.answerBytes
  }

  async #open(): Promise<Pool> {
    // Not from 'undici': its index replaces the global dispatcher, and with it the behaviour of the host's own `fetch`. The
    // path is not public, so package.json accepts patch releases only.
    const { default: Pool } = await import('undici/lib/dispatcher/pool.js')
    const pool = (this.#opened ??= new Pool(this.origin, this.#settings))
    if (this.#closed) await pool.destroy()
    return pool
  }

  /** Resolves once status and headers have arrived, for any status. Rejects if the connection fails, or if a successful response is compressed. */
  send(request: VendorRequest): Promise<Transfer> {
    return this.#credentials === undefined ? this.#send(request) : this.#sendSigned(request, this.#credentials)
  }

  /** A request that the vendor refuses for its credentials is repeated with others, each of which is then known to be refused. */
  async #sendSigned(request: VendorRequest, credentials: Credentials): Promise<Transfer> {
    const { method = 'POST', path, body, added, about } = request
    const earlier: AuthHeaders[] = []
    for (;;) {
      const unsigned = {
        method,
        url: this.origin + this.#prefix + this.#withQuery(path),
        headers: { ...this.#withHeaders(request.headers), ...added },
        body: body instanceof Uint8Array ? body : undefined,
        model: about?.model,
        account: about?.account,
        conversation: about?.conversation,
      }
      const headers = await credentialHeaders(credentials, unsigned)
      const transfer = await this.#send({ ...request, added: { ...added, ...withFeatures(headers, unsigned) } })
      const { status } = transfer
      if (status < 300) credentials.accepted?.(headers)
      if (!mayRefuse(status)) return transfer
      const reason = refusalReason(status, await readError(transfer))
      if (reason === undefined) return transfer
      const waitMs = waitOf((name) => transfer.header(name))
      const again = credentials.refused?.(headers, { status, reason, waitMs, model: about?.model, earlier }) === true
      if (!again || (body !== undefined && !(body instanceof Uint8Array))) return transfer
      earlier.push(headers)
    }
  }

  #send(request: VendorRequest): Promise<Transfer> {
    const { signal, sent, answered, whole, maxBytes } = request
    if (signal.aborted) return Promise.reject(signal.reason)
    const bounds = maxBytes === undefined ? this.#bounds : { ...this.#bounds, streamBytes: maxBytes }
    const transfer = new Transfer({ signal, bounds, sent, answered, whole })
    if (this.#opened !== undefined) this.#dispatch(this.#opened, request, transfer)
    else
      this.#open().then(
        (pool) => this.#dispatch(pool, request, transfer),
        (error: Error) => transfer.fail(error),
      )
    return transfer.begun
  }

  #dispatch(pool: Pool, { method = 'POST', path, body, headers, added }: VendorRequest, transfer: Transfer): void {
    const usual = this.#withHeaders(headers)
    const all = added === undefined ? usual : { ...usual, ...added }
    const isLong = body instanceof Uint8Array && body.length > longBytes
    try {
      pool.dispatch(
        {
          method,
          path: this.#prefix + this.#withQuery(path),
          headers: isLong ? { ...all, ...lengthOf(body) } : all,
          // undici accepts any iterable, although its type does not: https://undici.nodejs.org/#/docs/api/Dispatcher
          body: (isLong ? new LongBody(body) : (body ?? null)) as Uint8Array | null,
        },
        transfer,
      )
    } catch (error) {
      transfer.fail(error as Error)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#opened?.destroy()
    const { firstByte, idle, settling } = this.#bounds
    for (const limit of [firstByte, idle, settling]) limit.close()
  }

  /** Most requests of a client have the same headers, so the last result is kept. */
  #withHeaders(headers: VendorRequest['headers']): Readonly<Record<string, string>> {
    if (headers === undefined) return this.headers
    if (headers !== this.#lastHeaders) {
      this.#lastHeaders = headers
      this.#merged = { ...this.headers, ...headers }
    }
    return this.#merged
  }

  #withQuery(path: string): string {
    if (this.#query === '' || !path.includes('?')) return path + this.#query
    return `${path}&${this.#query.slice(1)}`
  }
}

/** A failure is not the client's, and another deployment has other credentials. */
async function credentialHeaders(credentials: Credentials, request: UnsignedRequest): Promise<AuthHeaders> {
  try {
    return await credentials.headers(request)
  } catch (error) {
    throw error instanceof ProviderError ? error : tryNext(error, { begun: false, fault: 'provider_rejected' })
  }
}

/** Features of Anthropic's API that a token needs are added to those of the request. */
function withFeatures(headers: AuthHeaders, { headers: given }: UnsignedRequest): AuthHeaders {
  const [needed, asked] = [headers['anthropic-beta'], given['anthropic-beta']]
  return needed === undefined || asked === undefined ? headers : { ...headers, 'anthropic-beta': `${asked},${needed}` }
}

/** Throws a `TypeError` that describes a valid URL, without repeating the given one: it may contain a password. */
export function parseBaseUrl(baseURL: string): URL {
  const url = URL.parse(baseURL)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new TypeError('baseURL must be an http(s) URL without credentials, such as "https://api.openai.com/v1"')
  }
  const [endpoint] = endpointPath.exec(url.pathname) ?? []
  if (endpoint !== undefined) {
    throw new TypeError(
      `baseURL must end before the path of an endpoint, which is appended to it: remove "${endpoint}"`,
    )
  }
  return url
}

/** The end of an address that was copied from the documentation of an endpoint. */
const endpointPath =
  /\/(?:chat\/completions|completions|responses|messages|embeddings|models\/[^/]+:\w+)(?=(?:\/v1|\/v1beta)?\/*$)/
