/** `modelhatch/providers`: all of `modelhatch/providers/…` in one import: the vendors, and what a custom provider is made of. */
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
export { demo, type DemoOptions, type DemoProvider } from './demo/demo.ts'
export { MessageFrames, type MessagePiece } from './message.ts'
export { ProviderError, retrySame, tryNext, type ProviderFailure, type RetryAdvice } from './failure.ts'
export { anthropic, type AnthropicOptions } from './anthropic/anthropic.ts'
export { gemini } from './gemini/gemini.ts'
export type { GeminiOptions } from './gemini/options.ts'
export { openai } from './openai/openai.ts'
export type { OpenAIOptions, PresetName } from './openai/options.ts'
export { finish, reasoning, text, toolCall, type ToolCallPiece } from './chunks.ts'
export { isFile, type FilePart, type Form, type FormPart, type TextPart } from '../http/form.ts'
export type { VideoCall, VideoContent, VideoContext, VideoLimits, VideoProvider, VideoStatus } from './video.ts'
export { gatewayVideo, openaiVideo, seedanceVideo, xaiVideo, type VideoVendorOptions } from './videos/videos.ts'
