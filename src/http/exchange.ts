/**
 * What comes in and what goes out, without any framework: adapters turn their host's request into an `Exchange`,
 * hand it to `gateway.handle`, and write the `Reply` it gives.
 */
import type { Readable } from 'node:stream'

/** One request as the core sees it. */
export interface Exchange {
  /** `GET`, `POST` …, in capitals as on the wire. */
  readonly method: string
  /** The raw request target below the mount path, such as `/v1/models/org%2Fmodel?x=1`. Never decoded by the host. */
  readonly target: string
  /** The mount path, such as `/ai`, as far as the host knows it: what stood before `target`. For links in answers. */
  readonly base?: string | undefined
  /** Lower-case names; a repeated header is joined by the host as `node:http` joins it. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** What is left of the request body. */
  readonly body: RequestBody
  /** Aborted when the client has gone before the whole reply was written. */
  readonly signal: AbortSignal
  /** The client's address as the host sees it; never taken from a forwarding header by us. */
  readonly ip?: string | undefined
  /** What the host calls a request, for `authenticate`: a Koa context, else the request of Express, Node or fetch. */
  readonly host?: unknown
}

/** An exchange whose body is not the only place in which its fields can stand. */
export interface PresetExchange extends Exchange {
  readonly presets?: Presets
}

/** Top-level fields of a request, by name. */
export interface Presets {
  /** In place of what the body says. */
  readonly fixed: Readonly<Record<string, string>>
  /** Where the body says nothing. */
  readonly defaults: Readonly<Record<string, string>>
}

/** The same exchange at another target. */
export function redirected(exchange: Exchange, target: string, presets: Presets): PresetExchange {
  return {
    method: exchange.method,
    target,
    presets,
    headers: exchange.headers,
    host: exchange.host,
    get base() {
      return exchange.base
    },
    get body() {
      return exchange.body
    },
    get signal() {
      return exchange.signal
    },
    get ip() {
      return exchange.ip
    },
  }
}

/** The request body by the time we see it: an earlier parser of the host may have read it. */
export type RequestBody =
  /** Nobody has read it. */
  | { readonly state: 'unread'; readonly stream: Readable }
  /** Read by the host's parser, which kept the exact text. */
  | { readonly state: 'text'; readonly text: string | Uint8Array }
  /** Read by the host's parser, which kept only the parsed value. */
  | { readonly state: 'parsed'; readonly value: unknown }
  /** The host's parser refused it, with this status. */
  | { readonly state: 'failed'; readonly status: number }
  /** Read, and nothing was kept. */
  | { readonly state: 'lost' }

/** The answer. `headers` never hold a connection header: the host's server sets those. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | StreamBody
}

/** A body made over time. */
export interface StreamBody {
  /**
   * Called exactly once by the adapter, after the head was written; with a closed sink when nothing can be written any
   * more. The first piece follows soon and carries the head with it. Must never throw and never reject: whatever goes
   * wrong afterwards is written to the sink in the format of the stream.
   */
  start(sink: Sink): void
}

/** Where a stream body is written. Every method is harmless after the client has gone. */
export interface Sink {
  /** Hands one piece to the host at once. False: the client reads slowly, wait for `drained` before the next. */
  write(piece: string | Uint8Array): boolean
  /** Resolves when there is room again, or the client has gone. */
  drained(): Promise<void>
  /** Nothing more comes. `whole` false: the body says itself, by its last piece, that it is not complete. Default true. */
  end(whole?: boolean): void
  /** The body cannot be completed in an orderly way: the connection is cut. */
  destroy(): void
  /** True once nothing that is written can arrive. */
  readonly closed: boolean
}

/** One header as a single string. */
export function header(exchange: Pick<Exchange, 'headers'>, name: string): string | undefined {
  const value = exchange.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
