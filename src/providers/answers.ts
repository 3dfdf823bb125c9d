/** What the methods of a provider return. */
import type { ChatChunk, ChatCompletion } from '../wire/chat.ts'
import type { TextChunk, TextCompletion } from '../wire/completions.ts'
import type { EmbeddingList } from '../wire/embeddings.ts'
import type { ModerationList } from '../wire/moderations.ts'
import type { ResponseEvent, ResponseObject } from '../wire/responses.ts'
import type { Answer } from '../conversation/parts.ts'
import type { ImageEvent, ImagesResponse } from '../wire/images.ts'
import type { SpeechFacts } from '../wire/speech.ts'
import type { Transcript, TranscriptEvent } from '../wire/transcriptions.ts'
import type { GenerateContentResponse } from '../wire/gemini.ts'
import type { InteractionObject } from '../wire/interactions.ts'
import type { ContentFrames, EmbeddingText, Verbatim } from './as-received.ts'
import type { Message } from '../wire/messages.ts'
import type { GeneratedPart } from './generated-part.ts'
import type { MessagePiece } from './message.ts'

/**
 * The answer to a conversation: its parts as they arrive, or all of it. An iterable that ends without an error counts as
 * complete.
 */
export type GeneratedAnswer = AsyncIterable<GeneratedPart> | Answer

/**
 * The response to a chat: pieces as they arrive, or a complete object. An iterable that ends without an error counts as
 * complete.
 */
export type ChatAnswer = AsyncIterable<ChatPiece> | ChatCompletion | Verbatim<ChatCompletion>

/** One piece of a streamed chat: a chunk, or SSE frames to pass on unchanged. */
export type ChatPiece = ChatChunk | ContentFrames

/** The response to a text completion, with the same rules as `ChatAnswer`. */
export type CompletionAnswer = AsyncIterable<CompletionPiece> | TextCompletion | Verbatim<TextCompletion>

/** One piece of a streamed text completion: a chunk, or SSE frames to pass on unchanged. */
export type CompletionPiece = TextChunk | ContentFrames

/** Embeddings: an object, or the JSON text of a large one. */
export type EmbeddingAnswer = EmbeddingList | EmbeddingText

/** The moderation results that the provider has; the gateway fills in missing ids, names and categories. */
export type ModerationAnswer = ModerationList | Verbatim<ModerationList>

/**
 * The response of the responses endpoint: its events, or a complete object. The events must end with
 * `response.completed`, `response.incomplete` or `response.failed`; without one of them the response counts as broken.
 * `ContentFrames` may hold only delta events here, each with `event:` and `data:` lines, a sequence number and its item's id.
 */
export type ResponseAnswer = AsyncIterable<ResponsePiece> | ResponseObject | Verbatim<ResponseObject>

/** One piece of a streamed response: an event, or SSE frames to pass on unchanged. */
export type ResponsePiece = ResponseEvent | ContentFrames

/**
 * The response of the Messages endpoint: its events, or a complete object. The events must end with `message_stop`;
 * without it the response counts as broken.
 */
export type MessageAnswer = AsyncIterable<MessagePiece> | Message | Verbatim<Message>

/**
 * The response of generateContent: the responses of its stream, each with the new parts, or a complete one. A stream is
 * complete once every candidate has a finish reason.
 */
export type ContentAnswer =
  | AsyncIterable<GenerateContentResponse>
  | GenerateContentResponse
  | Verbatim<GenerateContentResponse>

/**
 * The response of the Interactions API: the events of its stream, or a complete one. The events must end with
 * `interaction.completed`; without it the response counts as broken.
 */
export type InteractionAnswer = AsyncIterable<InteractionObject> | InteractionObject | Verbatim<InteractionObject>

/** Images: a complete object, or events as they are generated. An iterable that ends without an error counts as complete. */
export type ImageAnswer = AsyncIterable<ImageEvent | Verbatim<ImageEvent>> | ImagesResponse | Verbatim<ImagesResponse>

/** A piece of a speech: audio, or what the provider knows of it. An iterable that ends without an error counts as complete. */
export type SpeechPiece = Uint8Array | SpeechFacts

/** A transcript: a complete object, events, or (as a string) the text format that the client requested. */
export type TranscriptAnswer =
  | AsyncIterable<TranscriptEvent | Verbatim<TranscriptEvent>>
  | Transcript
  | Verbatim<Transcript>
  | string
