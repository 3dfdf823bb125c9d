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
  type ContentAnswer,
  type EmbeddingAnswer,
  type GeneratedAnswer,
  type ImageAnswer,
  type MessageAnswer,
  type ModerationAnswer,
  type Provider,
  type ResponseAnswer,
  type ResponsePiece,
  type SpeechPiece,
  type TranscriptAnswer,
} from './contract.ts'
export type { ChatTraits } from './chat-traits.ts'
export type { ContentTraits, GeminiTraits } from './content-traits.ts'
export type {
  Block,
  CacheMark,
  CallBlock,
  Citation,
  Conversation,
  Effort,
  FormatName,
  FunctionTool,
  MediaBlock,
  MediaSource,
  Output,
  Own,
  OwnBlock,
  OwnTool,
  Reasoning,
  ReasoningBlock,
  RefusalBlock,
  ResultBlock,
  Settings,
  State,
  TextBlock,
  TokenLogprob,
  Tool,
  ToolChoice,
  Turn,
} from '../conversation/conversation.ts'
export { turnText } from '../conversation/turn-text.ts'
export type { Answer, Choice, End, Reason } from '../conversation/parts.ts'
export { ProviderError, retrySame, tryNext, type ProviderFailure, type RetryAdvice } from './failure.ts'
export { MessageFrames, type MessagePiece } from './message.ts'
export type { KeyContext, KeySource } from './credentials/token.ts'
export { citation, finish, image, reasoning, refusal, text, toolCall, type ToolCallPiece } from './parts.ts'
export type { GeneratedCall, GeneratedEnd, GeneratedPart, GeneratedUsage } from './generated-part.ts'
export { isFile, type FilePart, type Form, type FormPart, type TextPart } from '../http/form.ts'
export type { ResponseHead } from './reported-limits.ts'
export type {
  BatchCall,
  BatchContext,
  BatchCounts,
  BatchJobs,
  BatchProvider,
  BatchStatus,
  BatchSubmission,
  FileBatchCall,
  FileBatchProvider,
  RelayedRequest,
  RelayedResponse,
} from './batches.ts'
export type {
  VideoCall,
  VideoContent,
  VideoContext,
  VideoAbilities,
  VideoFrame,
  VideoLimits,
  VideoProvider,
  VideoShapes,
  VideoStatus,
} from './video.ts'
