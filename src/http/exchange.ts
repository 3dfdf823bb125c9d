/**
 * Requests and replies, independent of any framework: an adapter turns its host's request into an `Exchange`, passes it
 * to `gateway.handle`, and writes the `Reply`.
 */
import type { Readable } from 'node:stream'
import { cancellationOf, type Cancellation } from './cancellation.ts'
import { ignore } from './ignore.ts'

/** One HTTP request, as adapters pass it to `gateway.handle`. */
export interface Exchange {
  /** The HTTP method in capitals, such as `POST`. */
  readonly method: string
  /**
   * The raw request target below the mount path, such as `/v1/models/org%2Fmodel?x=1`. Not decoded. Without a path for a
   * request of the mount path itself, which has no slash at its end.
   */
  readonly target: string
  /**
   * The mount path that was removed from `target`, such as `/ai`, if the host knows it. Used for links in responses.
   */
  readonly base?: string | undefined
  /** The request headers by lower-case name; repeated headers are joined as `node:http` joins them. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The request body, which the host may have read already. */
  readonly body: RequestBody
  /** Aborted when the client disconnects before the whole reply is written. */
  readonly signal: AbortSignal
  /** The same as `signal`, from adapters that make the `AbortSignal` only on first access. Default: `signal`. */
  readonly cancellation?: Cancellation | undefined
  /** The client's IP address as the host reports it; the gateway itself reads no forwarding header. */
  readonly ip?: string | undefined
  /**
   * The host's own request object, passed to `authenticate`: a Koa context, or the request of Express, Node or fetch.
   */
  readonly host?: unknown
  /** Present if the request is one of several on a connection, such as a call on a WebSocket. */
  readonly connection?: CallConnection | undefined
}

/** The connection of a request that is one of several on it. */
export interface CallConnection {
  /** Whether the request only prepares the next one: it is validated and remembered, and no model is called. */
  readonly prewarm: boolean
  /** The conversations of the connection. */
  readonly memory: ConversationMemory
}

/** Remembers conversations for as long as a connection is open: those of responses with `store: false` and of prewarms. */
export interface ConversationMemory {
  /** The items up to a response and its output; undefined if they are unknown or were forgotten. */
  get(account: string, id: string): readonly object[] | undefined
  /** Remembers them. Must not throw. */
  put(account: string, id: string, items: readonly object[]): void
}

/** An exchange with field values that come from its URL and not from its body. */
export interface PresetExchange extends Exchange {
  readonly presets?: Presets
}

/** Values for top-level fields of a request body, by name. */
export interface Presets {
  /** Replace the values in the body. */
  readonly fixed: Readonly<Record<string, string>>
  /** Used if the body has no value for the field. */
  readonly defaults: Readonly<Record<string, string>>
}

/** The same exchange with another target. */
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
    get cancellation() {
      return cancellationOf(exchange)
    },
    get ip() {
      return exchange.ip
    },
    get connection() {
      return exchange.connection
    },
  }
}

/** The request body as the gateway receives it: a body parser of the host may have consumed it already. */
export type RequestBody =
  | {
      /** Not read yet. */
      readonly state: 'unread'
      /** The raw body. */
      readonly stream: Readable
    }
  | {
      /** Read by the host's parser as text or bytes. */
      readonly state: 'text'
      /** The raw text. */
      readonly text: string | Uint8Array
    }
  | {
      /** Read and parsed by the host. */
      readonly state: 'parsed'
      /** The parsed value. */
      readonly value: unknown
    }
  | {
      /** Rejected by the host's parser. */
      readonly state: 'failed'
      /** The HTTP status that the parser asked for. */
      readonly status: number
    }
  | {
      /** Read by the host, which kept nothing. */
      readonly state: 'lost'
    }

/** What `mount` can serve: a gateway, or another part of the package that answers HTTP requests. */
export interface Mountable {
  /** Whether it handles a request target; all others are passed on to the host. */
  serves(target: string): boolean
  /** Handles one request. Never rejects. */
  handle(exchange: Exchange): Promise<Reply>
}

/** The gateway's reply to one request, for the adapter to write. */
export interface Reply {
  /** The HTTP status. */
  readonly status: number
  /** The response headers by lower-case name; never a connection header, which the host's server sets. */
  readonly headers: Readonly<Record<string, string>>
  /** The whole body, or one that is written over time. */
  readonly body: string | Uint8Array | StreamBody
}

/** A reply body that is written over time. */
export interface StreamBody {
  /**
   * Called by the adapter exactly once, after it has written status and headers; with a closed sink if the client has
   * already disconnected. Never throws: later failures are written to the sink in the format of the stream. The adapter
   * need not flush the headers, because the first write follows soon.
   */
  start(sink: Sink): void
}

/** Where an adapter lets a `StreamBody` write. Every method is safe to call after the client has disconnected. */
export interface Sink {
  /** Passes one chunk to the host at once. False: the client reads slowly; wait for `drained` before the next chunk. */
  write(piece: string | Uint8Array): boolean
  /** Resolves when more data can be written, or the client has disconnected. */
  drained(): Promise<void>
  /** Ends the body. `whole`: false if the last chunk already reports that the body is incomplete. Default true. */
  end(whole?: boolean): void
  /** Cuts the connection, so that the client does not take a truncated body for a complete one. */
  destroy(): void
  /** True once the client can receive nothing more. */
  readonly closed: boolean
  /** Bytes of the chunks so far that the client's connection has not taken. Undefined if they are not known. */
  readonly unsent?: number | undefined
}

/** The sink of a client that has disconnected. */
export const closedSink: Sink = {
  closed: true,
  write: () => true,
  drained: () => Promise.resolve(),
  end: ignore,
  destroy: ignore,
}

/** The value of one header; values of a repeated one are joined with commas. `name` in lower case. */
export function header(exchange: Pick<Exchange, 'headers'>, name: string): string | undefined {
  const value = exchange.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
