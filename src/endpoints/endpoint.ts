/** The contract of an endpoint: the parts of request handling that differ between endpoints. */
import type { HeldQuote } from '../admission/quotes.ts'
import type { Sizing } from '../admission/estimate.ts'
import type { Caller } from '../callers/contract.ts'
import type { Product } from '../money/prices/price.ts'
import type { Meter } from '../admission/meter.ts'
import type { Frames } from '../http/event-stream.ts'
import type { Exchange, Reply } from '../http/exchange.ts'
import type { OpenForm } from '../http/form.ts'
import type { Sizes } from '../http/sizes.ts'
import type { Catalogue } from '../models/catalogue.ts'
import type { Deployment, Model } from '../models/contract.ts'
import type { GatewayError } from '../errors.ts'
import type { Inspection } from '../inspect/inspection.ts'
import type { Observer } from '../observe/observe.ts'
import type { CallWatch } from '../observe/watch.ts'
import type { Call, Provider } from '../providers/contract.ts'
import type { DurableKeeper } from '../admission/ticket.ts'
import type { Cancellation } from '../http/cancellation.ts'
import type { BackgroundResponses } from './responses/background.ts'
import type { ResponseStore } from '../responses/contract.ts'
import type { VideoTasks } from '../tasks/video-tasks.ts'
import type { Attribution } from '../observe/usage/attribution.ts'
import type { Usage } from '../wire/usage.ts'

/** Where an endpoint is served. */
export interface Routed {
  /** The HTTP method. `HEAD` is served by `GET`. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Such as `/v1/summaries`, or several of them. A `*` matches one segment. */
  readonly path: string | readonly string[]
}

/** An endpoint that does not wait for a model, such as the model list. */
export interface QueryEndpoint extends Routed {
  /** The name in diagnostics, such as `models.list`. */
  readonly name: string
  /**
   * Whether rate limits apply, because it starts work of a model: then `answer` calls `Query.admit` first. `counts`: only
   * the rate of requests that count tokens.
   */
  readonly limited?: boolean | 'counts'
  /** Handles a request; throws the error to respond with. */
  readonly answer: (query: Query) => Promise<Reply>
}

/** Any endpoint. */
// oxlint-disable-next-line typescript/no-explicit-any -- each endpoint has its own types of request and response
export type Endpoint = QueryEndpoint | CallEndpoint<any, any, any>

/** A request to a `QueryEndpoint`. */
export interface Query {
  readonly id: string
  readonly exchange: Exchange
  readonly caller: Caller
  /** The part of the path that matched `*` in the route; not decoded. */
  readonly rest: string
  readonly catalogue: Catalogue
  readonly sizes: Sizes
  /** @internal */
  readonly services: EndpointServices
  /** Counts the request against the limits of its model. Rejects with 429 or 503. */
  readonly admit: (model: Model) => Promise<void>
  /** The response tells of work that has, or will have, this usage record: the id in it leads there. */
  readonly concerns: (record: string) => void
  /** Undefined if the request is not observed. */
  readonly watch?: CallWatch | undefined
}

/** What endpoints use of the gateway. */
export interface EndpointServices {
  readonly responses: ResponseStore
  readonly background: BackgroundResponses
  readonly videos: VideoTasks
  /** The base of URLs in responses, without `/v1`. Empty: URLs are relative to the host. */
  readonly publicUrl: string
  /** Whom a request is attributed to. `field`: the value of a top-level field of its body. */
  readonly attribute: (exchange: Exchange, caller: Caller, field: (name: string) => unknown) => Attribution
  /** The deployments of a model in the order of attempts, without those that keep failing. */
  readonly usable: (model: Model) => readonly Deployment[]
  /** What a caller pays for a model, for the model list. Undefined if it is not shown. */
  readonly shownPrice?: ((model: Model, caller: Caller) => object | undefined) | undefined
  /** What a call would cost. Throws and rejects as the call itself would. */
  readonly quote: (question: QuoteQuestion) => Promise<{ readonly model: string; readonly quote: HeldQuote }>
  /** Milliseconds that a client may leave a stream unread before it is disconnected. */
  readonly stallMs: number
  /** The inspection of a call; undefined if nothing inspects it. Absent if no options have inspectors. */
  readonly inspect?:
    | ((id: string, endpoint: string, model: Model, caller: Caller) => Inspection | undefined)
    | undefined
}

/** A call whose cost is asked for. */
export interface QuoteQuestion extends Pick<Query, 'id' | 'exchange' | 'caller' | 'admit'> {
  /** The request target of the call, such as `/v1/chat/completions`. */
  readonly target: string
  /** Its body in JSON. */
  readonly body: Uint8Array
}

/** The context in which an endpoint reads a request. */
export interface Reading {
  readonly caller: Caller
  /** @internal */
  readonly services: EndpointServices
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * An endpoint that calls a model. `Request`: what providers receive. `Answer`: the provider's response, ready to be
 * written. `Read`: the order, with additional data of the endpoint.
 */
export interface CallEndpoint<Request, Answer, Read extends Order<Request> = Order<Request>> extends Sizing, Routed {
  /** The name in receipts, such as `chat.completions`. */
  readonly name: string
  /** Not optional here, so that an endpoint cannot forget to name its product. */
  readonly makes: Product | undefined
  /** Reads and validates the request; throws or rejects with 400, 413, 415. */
  readonly read: (exchange: Exchange, sizes: Sizes, reading: Reading) => Promise<Read> | Read
  /**
   * What every turn of the conversation begins with, by which requests of one conversation go to the same deployment if their
   * client names none. Absent: requests are not part of conversations.
   */
  readonly beginning?: (order: Read) => string | undefined
  /** Validates the order against the limits of the model; throws 400. */
  readonly fit?: (order: Read, model: Model) => void | Promise<void>
  /**
   * A request that goes on without its client; undefined for all others. Rejects with the error to respond with. Its `order`
   * streams.
   */
  readonly detach?: (order: Read, context: Detaching) => Promise<Detached<Read>> | undefined
  /** The reply to a request whose `Idempotency-Key` was used before. Default: the stored one. */
  readonly repeat?: (
    order: Read,
    stored: Reply,
    context: Detaching & { readonly signal: AbortSignal },
  ) => Promise<Reply>
  /** The reply to a request that needs no provider and is not charged; undefined for all others. */
  readonly early?: (order: Read, context: Early) => Reply | undefined | Promise<Reply | undefined>
  /**
   * Calls one provider. Resolves once the first content or the whole response has arrived; an error before that may be
   * retried, or becomes the HTTP status.
   */
  readonly ask: (provider: Provider, call: Call<Request>, context: Context<Request, Read>) => Promise<Answer>
  /** The fields of the request with texts that inspectors see. Absent: conversations, which are inspected as such, or none. */
  readonly texts?: readonly string[]
  /** Releases a response that arrived after the request was aborted. Must not throw. */
  readonly discard?: (answer: Answer) => void
  /** The non-streaming reply. */
  readonly whole: (answer: Answer, context: Context<Request, Read>) => Reply
  /**
   * All frames of a streamed response. If they throw, an error event ends the stream. `ahead`: the client already has
   * the `opening` frame. Absent: the endpoint does not stream, and ignores the field `stream`.
   */
  readonly frames?: (answer: Answer, context: Context<Request, Read>, ahead: boolean) => Frames
  /** The media type of the stream, if it is none of events. `answer` is undefined until the first content has arrived. */
  readonly streamType?: (order: Read, answer: Answer | undefined) => string | undefined
  /**
   * Whether the stream is a file: nothing is written into it to keep it open, the status is sent with its first bytes, and one that
   * breaks off is cut, so that it does not look complete. Default: no.
   */
  readonly isFile?: (order: Read) => boolean
  /**
   * The fields of the request that `frames` and `idle` read once the first content has arrived, when no attempt can follow:
   * the rest of the request is then released. Absent: it is kept.
   */
  readonly readsLater?: readonly string[]
  /**
   * A frame that keeps an idle stream open: an event without effect, because some clients fail on comments. `answer` is
   * undefined until the first content has arrived. Default: a comment.
   */
  readonly idle?: (answer: Answer | undefined, context: Context<Request, Read>) => string
  /** The first frame if the first content takes long; with it the client gets status 200. Default: `idle`. */
  readonly opening?: (context: Context<Request, Read>) => string
  /** The last frames of a stream that failed. Default: one frame with the error, as in chat. */
  readonly failed?: (error: GatewayError, context: Context<Request, Read>) => string
}

/** A request that was read and validated. */
export interface Order<Request> {
  /** The model name that the client sent. */
  readonly model: string
  readonly stream: boolean
  readonly request: Request
  /** Whether `stream` and `request` are plain values, so that reading them is cheap. */
  readonly isParsed?: boolean
  /** Whether the request is longer than 256 KiB. */
  readonly large?: boolean
  /** Whether the request has a number whose digits parsing may change. Default false. */
  readonly hasLongNumber?: boolean
  /** Whether the request goes on without its client: then the first content is not waited for. */
  readonly isBackground?: boolean
  /** Estimated number of input tokens. */
  readonly promptTokens: number
  /** The parts of the request that no provider gets; see `Receipt.omitted`. */
  readonly omitted?: readonly string[]
  /** The names of the top-level fields, as the client sent them. */
  readonly names: () => Iterable<string>
  /** The value of a top-level field, without parsing the rest of a large request. */
  readonly field: (name: string) => unknown
  /** Whether an object inside a field has a duplicate key, of which parsers take either the first or the last. */
  readonly repeatsWithin?: (name: string) => boolean
  /** The members named `type` inside a field, at all levels, without parsing it; undefined if they are not known. */
  readonly typesWithin?: (name: string) => ReadonlySet<string> | undefined
  /** The request as JSON text, with top-level fields replaced, added or (undefined) removed. */
  readonly json: (changes: Record<string, unknown>) => Uint8Array
  /** Lets go of all fields but those in `keep`: the value of every other field is then null, and `json` must not be called. */
  readonly release?: (keep: readonly string[]) => void
  /** Whether the client takes the last block of a streamed message for the answer. Default false. */
  readonly readsLastBlock?: boolean
  /** See `Call.clientHeaders`. */
  readonly clientHeaders?: Readonly<Record<string, string>> | undefined
  /** The uploaded form. Fields after its files are known only once it has arrived. */
  readonly form?: OpenForm
}

/** A request before it is admitted. */
export interface Early {
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
}

/** What a request that goes on without its client is made of. */
export interface Detaching extends Early {
  readonly caller: Caller
  /** @internal */
  readonly services: EndpointServices
}

/** A request that goes on without its client. */
export interface Detached<Read> {
  readonly order: Read
  /** Takes the place of the client, and what the request costs. */
  readonly job: DurableKeeper & {
    readonly cancellation: Cancellation
    /** Called with the streamed reply. */
    run(reply: Promise<Reply>): Promise<void>
  }
  /** The reply that is kept for an `Idempotency-Key`, and the one for the client. */
  readonly reply: Reply
  readonly shown: Reply
}

/** One request in progress, after its model was found. */
export interface Context<Request, Read extends Order<Request> = Order<Request>> {
  readonly id: string
  readonly order: Read
  readonly model: Model
  readonly meter: Meter
  readonly observer: Observer
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /**
   * The next deployment, for the rest of a stream that has broken off; undefined if none can go on after this failure. `used`: by
   * the one before. Absent if streams of the model do not go on.
   */
  readonly successor?: ((failure: unknown, used: Usage) => Successor | undefined) | undefined
  /** What is looked into; undefined: nothing. */
  readonly inspection?: Inspection | undefined
  /** Whether the answer passes in parts whatever wire format its vendor has: it is inspected, or may go on at another deployment. */
  readonly inParts?: boolean | undefined
}

/** A deployment that goes on with a stream. */
export interface Successor {
  readonly provider: Provider
  /** The call as the client made it. */
  readonly call: Call<unknown>
}
