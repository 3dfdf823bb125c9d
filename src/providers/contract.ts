/**
 * What a vendor of models is to the gateway: an object with one optional method for each thing it can do. A method
 * takes a `Call` and gives the vendor's answer in OpenAI's shape; the gateway makes JSON or events of it, fills in what
 * is missing, counts, prices, retries and aborts.
 *
 * For every method:
 * - Required. Stop working and release what is held soon after `call.signal` is aborted.
 * - Required. Throw before the first item of an answer when the vendor cannot be used, so that the gateway may retry or
 *   go to another deployment; a `GatewayError` says what the caller is told, anything else becomes a 500 that tells
 *   nothing. `retry` of a `ProviderError` says whether another try can help.
 * - Required. Never pass on a vendor's own words of failure, its headers or its credentials.
 * - Recommended. Report usage: without it the gateway estimates, and marks the receipt so.
 */
import type { ChatChunk, ChatCompletion, ChatRequest } from '../wire/chat.ts'
import type { ModelObject } from '../wire/model.ts'

export interface Provider {
  /** A short name for receipts and logs, such as `openai`. */
  readonly name: string

  /**
   * Optional. Answers a chat. The simplest form is an async generator of chunks: `yield text('Hello')`, at the end
   * `yield finish('stop', usage)`. It serves streams and whole answers alike.
   */
  chat?(call: Call<ChatRequest>): ChatAnswer | Promise<ChatAnswer>

  /** Optional. The models the vendor offers, for `'vendor/*'` entries of the registry. */
  models?(call: { readonly signal: AbortSignal }): Promise<readonly ModelObject[]>

  /** Optional. Gives back connections and timers. Called by `gateway.close()`; a second call must do no harm. */
  close?(): Promise<void>
}

/** One request to one provider. A retry is a new call. */
export interface Call<Request> {
  /** The validated request in OpenAI's shape, unknown fields kept. Parsed when first read; treat it as read-only. */
  readonly request: Request
  /** The vendor's name for the model. */
  readonly model: string
  /** The name the client used, and the one the answer carries. */
  readonly publicModel: string
  /** The client chose the vendor's name itself: a model unknown to the vendor is then the client's mistake, a 404. */
  readonly openModel: boolean
  /** Whether the client wants events. A provider may stream to the gateway in any case. */
  readonly stream: boolean
  /** Aborted when the client has gone, a deadline has passed, or the gateway closes. */
  readonly signal: AbortSignal
  /** The id of the request, the same for every retry: `x-request-id` of the answer. */
  readonly id: string
  /** One top-level field of the request, without parsing the rest of a large one. */
  readonly field: (name: string) => unknown
  /**
   * The request as JSON text with some top-level fields replaced, added, or (undefined) left out, and the rest byte for
   * byte: for vendors that speak OpenAI's format, much cheaper than printing `request` again.
   */
  readonly json: (changes: Record<string, unknown>) => Uint8Array
}

/** The answer to a chat: pieces as they come, or the whole. Ending early without a throw means a complete answer. */
export type ChatAnswer = AsyncIterable<ChatPiece> | ChatCompletion | Verbatim<ChatCompletion>

export type ChatPiece = ChatChunk | ContentFrames

/**
 * Whole SSE frames in OpenAI's form that hold only deltas of content and already carry the public model name: no tool
 * call, finish reason, usage, error or `[DONE]`. They are passed on byte for byte. The first piece of an answer must be
 * a chunk, which tells id and time of creation.
 */
export class ContentFrames {
  readonly bytes: Uint8Array
  readonly count: number

  constructor(bytes: Uint8Array, count: number) {
    this.bytes = bytes
    this.count = count
  }
}

/** A whole answer with the JSON text it was parsed from, which is passed on where nothing must change. */
export class Verbatim<T> {
  readonly value: T
  readonly bytes: Uint8Array

  constructor(value: T, bytes: Uint8Array) {
    this.value = value
    this.bytes = bytes
  }
}

/** A provider as its author writes it, checked against the contract and with its own type kept. */
export function defineProvider<const P extends Provider>(provider: P): P {
  return provider
}
