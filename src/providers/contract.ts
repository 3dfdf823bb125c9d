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
import type { Form } from '../http/form.ts'
import type { ChatChunk, ChatCompletion, ChatRequest } from '../wire/chat.ts'
import type { CompletionRequest, TextChunk, TextCompletion } from '../wire/completions.ts'
import type { EmbeddingList, EmbeddingRequest } from '../wire/embeddings.ts'
import type { ModerationList, ModerationRequest } from '../wire/moderations.ts'
import type { CompactionObject, ResponseEvent, ResponseObject, ResponseRequest } from '../wire/responses.ts'
import type { Usage } from '../wire/usage.ts'
import type { ImageEditRequest, ImageEvent, ImageRequest, ImagesResponse } from '../wire/images.ts'
import type { ModelObject } from '../wire/model.ts'
import type { Transcript, TranscriptEvent, TranscriptionRequest } from '../wire/transcriptions.ts'
import type { CostsOf } from './costs/contract.ts'
import type { VideoProvider } from './video.ts'

export interface Provider {
  /** A short name for receipts and logs, such as `openai`. */
  readonly name: string

  /**
   * Optional. Who can read what an answer carries for the next turn, such as signatures and encrypted reasoning: it is
   * handed back to providers with the same maker and to no other. Default: `name`.
   */
  readonly maker?: string | undefined

  /**
   * Optional. Answers a chat. The simplest form is an async generator of chunks: `yield text('Hello')`, at the end
   * `yield finish('stop', usage)`. It serves streams and whole answers alike.
   */
  chat?(call: Call<ChatRequest>): ChatAnswer | Promise<ChatAnswer>

  /**
   * Optional. Continues a text (the legacy endpoint), in the same forms as a chat. Without it, or where it gives
   * undefined because this model only chats, the gateway asks `chat`.
   */
  complete?(call: Call<CompletionRequest>): CompletionAnswer | undefined | Promise<CompletionAnswer | undefined>

  /**
   * Optional. Turns texts into vectors, one for each input. Numbers and base64 are both taken: the gateway converts to
   * what the client asked for, and fills in what is missing.
   */
  embed?(call: Call<EmbeddingRequest>): EmbeddingAnswer | Promise<EmbeddingAnswer>

  /** Optional. The most inputs that one call of `embed` takes; longer lists are split by the gateway. */
  readonly embeddingBatch?: number | undefined

  /** Optional. Says of texts and images, for each category of OpenAI's, whether it applies: one result for each text. */
  moderate?(call: Call<ModerationRequest>): ModerationAnswer | Promise<ModerationAnswer>

  /**
   * Optional. Answers in the form of the responses endpoint, for vendors that have one. Without it the gateway asks
   * `chat`. The gateway itself keeps the responses of its callers: the request holds the whole conversation, has
   * `store: false`, and names no earlier response and no stored item.
   */
  respond?(call: Call<ResponseRequest>): ResponseAnswer | Promise<ResponseAnswer>

  /**
   * Optional. Makes a few items that stand for a conversation, for vendors that do so. Without it, or where it gives
   * undefined because this model cannot, the gateway asks the model for a summary.
   */
  compact?(call: Call<ResponseRequest>): Promise<CompactionObject | undefined>

  /** Optional. Makes images of a prompt. An error that leaves open whether images were made is never followed by a retry. */
  generateImages?(call: Call<ImageRequest>): ImageAnswer | Promise<ImageAnswer>

  /** Optional. Makes images of images: the files `image`, `image[]` and `mask` of `call.form`, or the request's references. */
  editImages?(call: Call<ImageEditRequest>): ImageAnswer | Promise<ImageAnswer>

  /** Optional. Writes down what is said in the file `file` of `call.form`. */
  transcribe?(call: Call<TranscriptionRequest>): TranscriptAnswer | Promise<TranscriptAnswer>
  /**
   * Optional. True: the provider calls `call.sent` once the vendor has the whole request. Else a request counts as sent as
   * soon as the provider is asked, and a client that leaves before the answer pays for its question.
   */
  readonly reportsSent?: boolean | undefined
  /** Optional. Makes videos, as tasks that outlive their request. */
  readonly video?: VideoProvider

  /** Optional. The models the vendor offers, for `'vendor/*'` entries of the registry. */
  models?(call: { readonly signal: AbortSignal }): Promise<readonly ModelObject[]>

  /**
   * Optional. The fields, for an endpoint by its name in receipts (`videos` for videos), that choose another model, price
   * or amount of work at this vendor. The gateway refuses them unless the model's options allow or fix them.
   */
  readonly costs?: CostsOf

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
  /** Tokens of output at most, where the registry tells: for vendors that insist on a limit. */
  readonly maxOutputTokens?: number | undefined
  /** Whether the client wants events. A provider may stream to the gateway in any case. */
  readonly stream: boolean
  /** Aborted when the client has gone, a deadline has passed, or the gateway closes. */
  readonly signal: AbortSignal
  /** To be called when the vendor has the whole request; see `Provider.reportsSent`. `share`: the part of it, up to 1, the default. */
  readonly sent?: ((share?: number) => void) | undefined
  /** The id of the request, the same for every retry: `x-request-id` of the answer. */
  readonly id: string
  /** The request has more than a megabyte: what is done with it should not be done in one turn of the event loop. */
  readonly large?: boolean | undefined
  /** One top-level field of the request, without parsing the rest of a large one. */
  readonly field: (name: string) => unknown
  /**
   * The request as JSON text with some top-level fields replaced, added, or (undefined) left out, and the rest byte for
   * byte: for vendors that speak OpenAI's format, much cheaper than printing `request` again.
   */
  readonly json: (changes: Record<string, unknown>) => Uint8Array
  /** The uploaded form, for the methods that take files. `request` holds its text fields. */
  readonly form?: Form | undefined
}

/** The answer to a chat: pieces as they come, or the whole. Ending early without a throw means a complete answer. */
export type ChatAnswer = AsyncIterable<ChatPiece> | ChatCompletion | Verbatim<ChatCompletion>

export type ChatPiece = ChatChunk | ContentFrames

/** The answer to a text completion, with the same rules as for a chat. */
export type CompletionAnswer = AsyncIterable<CompletionPiece> | TextCompletion | Verbatim<TextCompletion>

export type CompletionPiece = TextChunk | ContentFrames

export type EmbeddingAnswer = EmbeddingList | EmbeddingText

/** Results as far as the provider has them: the gateway fills in ids, names and categories that are missing. */
export type ModerationAnswer = ModerationList | Verbatim<ModerationList>

/**
 * The answer of the responses endpoint: its events, or the whole. The events are complete only with one of
 * `response.completed`, `response.incomplete` and `response.failed`; ending without it means a broken answer. Here
 * `ContentFrames` hold nothing but deltas (`event:` and `data:` line, a sequence number, the id of their item).
 */
export type ResponseAnswer = AsyncIterable<ResponsePiece> | ResponseObject | Verbatim<ResponseObject>

export type ResponsePiece = ResponseEvent | ContentFrames

/**
 * Whole SSE frames in OpenAI's form that hold only deltas of content and already carry the public model name: no tool
 * call, finish reason, usage, error or `[DONE]`. They are passed on byte for byte. The first piece of an answer must be
 * a chunk, which tells id and time of creation.
 */
export class ContentFrames {
  readonly bytes: Uint8Array
  /** Bytes of the answer's text in them, as UTF-8 without the escapes of JSON: what is charged if the client leaves. */
  readonly textBytes: number

  constructor(bytes: Uint8Array, textBytes: number) {
    this.bytes = bytes
    this.textBytes = textBytes
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

/**
 * Vectors as the JSON text they came in, for answers too large to be parsed without need: the whole answer in OpenAI's
 * form, with the vectors in the encoding that was asked for and the public model name.
 */
export class EmbeddingText {
  readonly bytes: Uint8Array
  readonly usage: Usage | undefined

  constructor(bytes: Uint8Array, usage: Usage | undefined) {
    this.bytes = bytes
    this.usage = usage
  }
}
/** Images: whole, or as events while they are made. Ending early without a throw means a complete answer. */
export type ImageAnswer = AsyncIterable<ImageEvent | Verbatim<ImageEvent>> | ImagesResponse | Verbatim<ImagesResponse>

/** A transcript: whole, as events, or (a string) already in the text format that was asked for. */
export type TranscriptAnswer =
  | AsyncIterable<TranscriptEvent | Verbatim<TranscriptEvent>>
  | Transcript
  | Verbatim<Transcript>
  | string

/** A provider as its author writes it, checked against the contract and with its own type kept. */
export function defineProvider<const P extends Provider>(provider: P): P {
  return provider
}
