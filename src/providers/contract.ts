/** The provider contract: the interface that connects the gateway to one vendor, and the types it uses. */
import type { ChatRequest } from '../wire/chat.ts'
import type { CompletionRequest } from '../wire/completions.ts'
import type { EmbeddingRequest } from '../wire/embeddings.ts'
import type { ModerationRequest } from '../wire/moderations.ts'
import type { CompactionObject, ResponseRequest } from '../wire/responses.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { ImageEditRequest, ImageRequest, ImageVariationRequest } from '../wire/images.ts'
import type { ModelObject } from '../wire/model.ts'
import type { DecisionList, DecisionRequest } from '../wire/decisions.ts'
import type { RerankAnswer, RerankRequest } from '../wire/rerank.ts'
import type { SpeechRequest } from '../wire/speech.ts'
import type { TranscriptionRequest } from '../wire/transcriptions.ts'
import type { GenerateContentRequest } from '../wire/gemini.ts'
import type { InteractionRequest } from '../wire/interactions.ts'
import type {
  GeneratedAnswer,
  ChatAnswer,
  CompletionAnswer,
  EmbeddingAnswer,
  ModerationAnswer,
  ResponseAnswer,
  MessageAnswer,
  ContentAnswer,
  ImageAnswer,
  InteractionAnswer,
  SpeechPiece,
  TranscriptAnswer,
} from './answers.ts'
import type { ChatTraits } from './chat-traits.ts'
import type { ContentTraits } from './content-traits.ts'
import type { Call } from './call.ts'
import type { CostsOf } from './costs/contract.ts'
import type { KeySource } from './credentials/token.ts'
import type { MessageRequest } from '../wire/messages.ts'
import type { MessageTraits } from './message-traits.ts'
import type { VideoProvider } from './video.ts'
import type { BatchProvider, FileBatchProvider } from './batches.ts'
import type { OptionWarning } from './option-warnings.ts'

export type * from './answers.ts'
export type { Call } from './call.ts'
export { ContentFrames, EmbeddingText, Verbatim } from './as-received.ts'

/**
 * Connects the gateway to one vendor: an object with one optional method for each kind of request it serves. A method
 * takes a `Call` and returns the vendor's response. The gateway serialises it as JSON or as events, fills in missing ids
 * and timestamps, counts tokens, prices, retries and aborts.
 *
 * Every method
 * - must stop working and release its resources soon after `call.signal` is aborted;
 * - must throw before the first piece of a response if the vendor cannot be used, so that the gateway can retry or use
 *   another deployment. The client gets a `GatewayError` as it is; any other error becomes a 500 without details.
 *   `retry` of a `ProviderError` decides whether there is another attempt;
 * - must never pass on the text of a vendor's error, its headers, its credentials, or what it says of its costs;
 * - should report usage. Without it the gateway estimates tokens and marks the receipt as estimated.
 *
 * @example
 * const echo = defineProvider({
 *   name: 'echo',
 *   async *generate({ request }) {
 *     yield text(JSON.stringify(request.turns.at(-1)))
 *     yield finish('stop', { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 })
 *   },
 * })
 */
export interface Provider {
  /** A short name for receipts and logs, such as `openai`. */
  readonly name: string

  /**
   * Identifies who can read the opaque data of a response (signatures, encrypted reasoning) in the next turn of the
   * conversation. The gateway returns such data only to providers with the same maker. Name the account too if only it can
   * read the data. Default: `name`.
   */
  readonly maker?: string | undefined

  /** The origin of the vendor's API, such as `https://api.openai.com`, for telemetry. Default: not reported. */
  readonly origin?: string | undefined

  /**
   * Answers a conversation, for every wire format: chats, responses, messages and text completions, streamed or not. The
   * simplest form is an async generator of parts: `yield text('Hello')`, and at the end `yield finish('stop', usage)`. The
   * gateway enforces stop sequences. The methods for single formats (`chat`, `respond`, `message`) come before it.
   */
  generate?(call: Call<Conversation>): GeneratedAnswer | Promise<GeneratedAnswer>

  /**
   * Fields of chats that are not in a conversation and that `generate` leaves out, such as `logit_bias`. Requests with any
   * other are rejected with 400. Default: none.
   */
  readonly dropParams?: readonly string[] | undefined

  /** Serves chat completions in OpenAI's format, for vendors that have that API. */
  chat?(call: Call<ChatRequest>): ChatAnswer | Promise<ChatAnswer>

  /** What its chats accept beyond the usual, for requests that the gateway translates into chats. Default: nothing. */
  readonly chatTraits?: ChatTraits | undefined

  /**
   * Serves the legacy text completions, with the same forms of response as `chat`. Without this method, or if it returns
   * undefined because the model supports only chats, the gateway calls `chat`.
   */
  complete?(call: Call<CompletionRequest>): CompletionAnswer | undefined | Promise<CompletionAnswer | undefined>

  /**
   * Computes embeddings: one vector for each input, as numbers or as base64. The gateway converts them to the encoding
   * that the client requested.
   */
  embed?(call: Call<EmbeddingRequest>): EmbeddingAnswer | Promise<EmbeddingAnswer>

  /** Maximum number of inputs of one `embed` call; the gateway splits longer lists. Default: no limit. */
  readonly embeddingBatch?: number | undefined

  /**
   * Classifies texts and images by OpenAI's moderation categories: one result for each text of a list, one for a single
   * text, and one for all parts of a multimodal input.
   */
  moderate?(call: Call<ModerationRequest>): ModerationAnswer | Promise<ModerationAnswer>

  /**
   * Serves the responses endpoint, for vendors that have one. Without this method the gateway calls `chat`. The gateway
   * stores responses itself: the request holds the whole conversation, has `store: false`, and references neither an
   * earlier response nor a stored item.
   */
  respond?(call: Call<ResponseRequest>): ResponseAnswer | Promise<ResponseAnswer>

  /**
   * Serves Anthropic's Messages, for vendors that have that API. Without this method the gateway calls `respond`, or
   * `chat` if there is no `respond`.
   */
  message?(call: Call<MessageRequest>): MessageAnswer | Promise<MessageAnswer>

  /** What a model accepts of Messages, for requests that the gateway translates into messages. Default: all of the format. */
  messageTraits?(model: string): MessageTraits

  /** Serves Google's generateContent, for vendors that have that API. */
  generateContent?(call: Call<GenerateContentRequest>): ContentAnswer | Promise<ContentAnswer>

  /** Serves Google's Interactions API, for models that are in no other: those whose `contentTraits` say so. */
  interact?(call: Call<InteractionRequest>): InteractionAnswer | Promise<InteractionAnswer>

  /** What a model accepts of generateContent, for requests that the gateway translates into it. Default: all of the format. */
  contentTraits?(model: string): ContentTraits

  /**
   * Compacts a conversation into fewer items, for vendors that can. Without this method, or if it returns undefined
   * because the model cannot, the gateway requests a summary from the model.
   */
  compact?(call: Call<ResponseRequest>): Promise<CompactionObject | undefined>

  /**
   * Counts the input tokens of a request for a message, for vendors that can. Undefined if this model has no such count.
   * Without this method the gateway calls `countChat`, `countResponse`, or estimates.
   */
  countMessage?(call: Call<MessageRequest>): Promise<number | undefined>

  /** Counts the input tokens of a request for `generateContent`; like `countMessage`. */
  countContent?(call: Call<GenerateContentRequest>): Promise<number | undefined>

  /** Counts the input tokens of a chat; like `countMessage`. Serves the other kinds of requests too, as `chat` does. */
  countChat?(call: Call<ChatRequest>): Promise<number | undefined>

  /**
   * Counts the input tokens of a request to the responses endpoint; like `countMessage`. Without this method the gateway
   * calls `countChat`, or estimates.
   */
  countResponse?(call: Call<ResponseRequest>): Promise<number | undefined>

  /** Generates images from a prompt. The gateway never retries after an error that leaves open whether images were made. */
  generateImages?(call: Call<ImageRequest>): ImageAnswer | Promise<ImageAnswer>

  /** Edits images: the files `image`, `image[]` and `mask` of `call.form`, or the images that the request references. */
  editImages?(call: Call<ImageEditRequest>): ImageAnswer | Promise<ImageAnswer>

  /** Makes variations of an image: the file `image` of `call.form`. */
  varyImage?(call: Call<ImageVariationRequest>): ImageAnswer | Promise<ImageAnswer>

  /** Answers the typed questions of the request about its input, in their order. */
  decide?(call: Call<DecisionRequest>): Promise<DecisionList>

  /** Ranks the documents of the request, which are texts, by how relevant they are to its query. */
  rerank?(call: Call<RerankRequest>): Promise<RerankAnswer>

  /** Speaks a text: pieces of audio as they are made, in the requested format, and in between what is known of it. */
  speak?(call: Call<SpeechRequest>): AsyncIterable<SpeechPiece>

  /** Transcribes the audio file `file` of `call.form`. */
  transcribe?(call: Call<TranscriptionRequest>): TranscriptAnswer | Promise<TranscriptAnswer>

  /** Translates the speech of the audio file `file` of `call.form` into English. The request never streams. */
  translateSpeech?(call: Call<TranscriptionRequest>): TranscriptAnswer | Promise<TranscriptAnswer>

  /**
   * True if the provider calls `call.sent` once the vendor has received the whole request. Otherwise a request counts as
   * sent when the provider is called, so a client that disconnects before the response is charged for its prompt.
   * Default false.
   */
  readonly reportsSent?: boolean | undefined

  /**
   * True if the provider calls `call.costs` for vendors that say what a call costs: the gateway then compares it with the
   * cost of the deployment. Default false.
   */
  readonly reportsCosts?: boolean | undefined

  /**
   * True if the provider reads nothing of a call once the first content of its response has arrived. Then the gateway lets
   * go of the request, which otherwise takes memory for as long as the response is streamed. Default false.
   */
  readonly releasesCalls?: boolean | undefined

  /**
   * True if the provider reads `Call.conversation`, such as to use one of several keys for it; `named` if it reads no more than
   * `Call.promptCacheKey`. Default false.
   */
  readonly usesConversation?: boolean | 'named' | undefined

  /** Generates videos, as tasks that continue after the request that created them. */
  readonly video?: VideoProvider
  /** Makes batches of messages, with the option `batches`. */
  readonly batches?: BatchProvider | undefined
  /** Makes batches of files, with the option `batches.files`. */
  readonly fileBatches?: FileBatchProvider<Provider> | undefined

  /**
   * Lists the vendor's models by the names that it serves them by, for `'vendor/*'` entries of the registry and for
   * `gateway.ready({ vendors: true })`.
   */
  models?(call: { readonly signal: AbortSignal }): Promise<readonly ModelObject[]>

  /**
   * For an endpoint, by its name in receipts (`chat.completions`, `videos`, …): the request fields that select another
   * model, price or amount of work at this vendor. The gateway rejects them unless the model's options allow or set them.
   */
  readonly costs?: CostsOf

  /**
   * The same provider with another key, and nothing of this one's: for customers with keys of their own. Its name ends in
   * `/own-key`, so that receipts and usage records say whose key paid. Without this method such keys are not used.
   */
  withKey?(apiKey: string | KeySource): Provider

  /** What is probably a mistake in its options, for `gateway.warnings()`. Default: nothing. */
  readonly warnings?: readonly OptionWarning[] | undefined

  /** Closes connections and clears timers. Called by `gateway.close()`; must be idempotent. */
  close?(): Promise<void>
}

/**
 * Checks a provider at compile time and returns it with its own type, so that its extra members stay visible.
 *
 * @example
 * export const echo = defineProvider({
 *   name: 'echo',
 *   async *generate({ request }) {
 *     yield text(`You sent ${request.turns.length} turns.`)
 *     yield finish('stop')
 *   },
 * })
 */
export function defineProvider<const P extends Provider>(provider: P): P {
  return provider
}
