/** What an endpoint is: the parts of the walk that differ from one to the next. */
import type { Sizing } from '../admission/estimate.ts'
import type { Caller } from '../auth/contract.ts'
import type { Product } from '../billing/price.ts'
import type { Meter } from '../billing/receipt.ts'
import type { Exchange, Reply } from '../http/exchange.ts'
import type { OpenForm } from '../http/form.ts'
import type { Sizes } from '../http/sizes.ts'
import type { Catalogue } from '../models/access.ts'
import type { Model } from '../models/contract.ts'
import type { GatewayError } from '../errors.ts'
import type { Call, Provider } from '../providers/contract.ts'
import type { ResponseStore } from '../responses/contract.ts'
import type { VideoTasks } from '../tasks/video-tasks.ts'

/** An endpoint that answers from what the gateway itself knows. */
export interface QueryEndpoint {
  readonly name: string
  /** Begins work of a model, and counts against the limits as a call does: it asks `Query.admit` before. */
  readonly limited?: boolean
  readonly answer: (query: Query) => Promise<Reply>
}

export interface Query {
  readonly exchange: Exchange
  readonly caller: Caller
  /** What stood in place of the `*` in the route, still encoded. */
  readonly rest: string
  readonly catalogue: Catalogue
  readonly sizes: Sizes
  readonly parts: Parts
  /** Takes a limited request's share of the limits for its model. Rejects with 429 or 503. */
  readonly admit: (model: Model) => Promise<void>
}

/** What the gateway keeps between calls, for the endpoints that need it. */
export interface Parts {
  readonly responses: ResponseStore
  readonly videos: VideoTasks
  /** What stands before `/v1` in the URLs that answers hold; empty: such URLs are relative to the host. */
  readonly publicUrl: string
  /** Milliseconds for which a client may leave a stream unread. */
  readonly stallMs: number
}

/** Who asks, and what may be needed to read the request. */
export interface Reading {
  readonly caller: Caller
  readonly parts: Parts
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * An endpoint that calls a model. `Request` is what providers get, `Answer` what is left to write to the client. `Read`
 * is the order with whatever else the endpoint wants to know of it later.
 */
export interface CallEndpoint<Request, Answer, Read extends Order<Request> = Order<Request>> extends Sizing {
  /** The name in receipts, such as `chat.completions`. */
  readonly name: string
  /** Not optional here, so that an endpoint cannot forget to name its product. */
  readonly makes: Product | undefined
  /** Reads and checks the request; throws 400, 413, 415. */
  readonly read: (exchange: Exchange, sizes: Sizes, reading: Reading) => Promise<Read>
  /** Holds the order against the model that was found; throws 400. */
  readonly fit?: (order: Read, model: Model) => void | Promise<void>
  /**
   * Asks one provider. Resolves when the answer is sure enough to be begun: whole, or its first content seen. Whatever
   * is thrown before that may be retried and becomes a status.
   */
  readonly ask: (provider: Provider, call: Call<Request>, visit: Visit<Request, Read>) => Promise<Answer>
  /** Lets go of an answer that came when nobody wanted it any more. Never throws. */
  readonly discard?: (answer: Answer) => void
  /** The reply to a client that waits for the whole. */
  readonly whole: (answer: Answer, visit: Visit<Request, Read>) => Reply | ByteAnswer
  /**
   * The frames for a client that wants events, the last one included. A throw ends the stream with an error event.
   * `ahead`: the client already has what `opening` gave. Absent: every answer is whole, whatever the request says.
   */
  readonly frames?: (answer: Answer, visit: Visit<Request, Read>, ahead: boolean) => AsyncIterable<string | Uint8Array>
  /**
   * What a stream gets in which nothing has been said for a while: an event of the wire that changes nothing for the
   * client. Some clients end at a comment. Without an answer nothing of it is known yet.
   */
  readonly idle?: (answer: Answer | undefined, visit: Visit<Request, Read>) => string
  /** What goes ahead of an answer that is long in coming, once, and carries the status. Default: what `idle` gives. */
  readonly opening?: (visit: Visit<Request, Read>) => string
  /** The last frames of a stream that cannot be completed. Default: one frame with the error, as a chat has it. */
  readonly failed?: (error: GatewayError, visit: Visit<Request, Read>) => string
}

/**
 * An answer of bytes that are passed on as they come, such as sound. Nothing can be put between them: one that cannot be
 * completed is cut.
 */
export interface ByteAnswer {
  readonly contentType: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A request that was read and found good. */
export interface Order<Request> {
  /** The model as the client names it. */
  readonly model: string
  readonly stream: boolean
  readonly request: Request
  /** `stream` and `request` are known, and cost nothing to read. */
  readonly isParsed?: boolean
  /** More than a megabyte. */
  readonly large?: boolean
  /** Tokens of the question, estimated. */
  readonly promptTokens: number
  /** The names of the top-level fields, as the client wrote them. */
  readonly names: () => Iterable<string>
  /** One top-level field, without parsing the rest of a large request. */
  readonly field: (name: string) => unknown
  /** Whether an object inside a field has a name twice, of which parsers take one or the other. */
  readonly repeatsWithin?: (name: string) => boolean
  /** The request as JSON text with some top-level fields replaced, added, or (undefined) left out. */
  readonly json: (changes: Record<string, unknown>) => Uint8Array
  /** The uploaded form. Fields that come behind its files are only known when it has arrived. */
  readonly form?: OpenForm
}

/** One request on its way, after its model was found. */
export interface Visit<Request, Read extends Order<Request> = Order<Request>> {
  readonly id: string
  readonly order: Read
  readonly model: Model
  readonly meter: Meter
  /** Milliseconds since the epoch. */
  readonly startedAt: number
}
