/** `modelhatch/providers/custom`: what a provider of your own is made of. Loads no vendor. */
export {
  ContentFrames,
  defineProvider,
  EmbeddingText,
  Verbatim,
  type Call,
  type ChatAnswer,
  type ChatPiece,
  type CompletionAnswer,
  type CompletionPiece,
  type EmbeddingAnswer,
  type ImageAnswer,
  type MessageAnswer,
  type ModerationAnswer,
  type Provider,
  type ResponseAnswer,
  type ResponsePiece,
  type TranscriptAnswer,
} from './contract.ts'
export type { ChatTraits } from './chat-traits.ts'
export { ProviderError, retrySame, tryNext, type ProviderFailure, type RetryAdvice } from './failure.ts'
export { MessageFrames, type MessagePiece } from './message.ts'
export { finish, reasoning, text, toolCall, type ToolCallPiece } from './chunks.ts'
export { isFile, type FilePart, type Form, type FormPart, type TextPart } from '../http/form.ts'
export type { VideoCall, VideoContent, VideoContext, VideoLimits, VideoProvider, VideoStatus } from './video.ts'
