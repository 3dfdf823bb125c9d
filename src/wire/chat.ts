/**
 * OpenAI's chat shapes, to which the gateway converts other formats. Unknown fields are kept, so every interface is
 * open. Source: OpenAI's OpenAPI document, CreateChatCompletionRequest, …Response, …StreamResponse.
 */
import type { Usage } from './usage.ts'

/** The body of `POST /v1/chat/completions`. */
export interface ChatRequest {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly stream?: boolean | null
  readonly stream_options?: { readonly include_usage?: boolean; readonly [option: string]: unknown } | null
  /** 0 to 2. */
  readonly temperature?: number | null
  /** 0 to 1. */
  readonly top_p?: number | null
  readonly max_tokens?: number | null
  readonly max_completion_tokens?: number | null
  readonly n?: number | null
  readonly stop?: string | readonly string[] | null
  readonly tools?: readonly Tool[] | null
  readonly tool_choice?: ToolChoice | null
  readonly parallel_tool_calls?: boolean | null
  readonly response_format?: ResponseFormat | null
  readonly reasoning_effort?: string | null
  readonly [field: string]: unknown
}

/** One message of a chat. */
export interface ChatMessage {
  readonly role: 'developer' | 'system' | 'user' | 'assistant' | 'tool' | 'function'
  readonly content?: string | readonly ContentPart[] | null
  readonly name?: string
  readonly tool_calls?: readonly ToolCall[] | null
  readonly tool_call_id?: string
  readonly [field: string]: unknown
}

/** A part of a message: `text`, `image_url`, `input_audio`, `file` or `refusal`. Open to others. */
export interface ContentPart {
  readonly type: string
  readonly text?: string
  readonly image_url?: { readonly url: string; readonly detail?: string }
  readonly [field: string]: unknown
}

/** A tool that the model may call. */
export interface Tool {
  readonly type: string
  readonly function?: {
    readonly name: string
    readonly description?: string
    /** A JSON schema. */
    readonly parameters?: Record<string, unknown>
    readonly strict?: boolean | null
  }
  readonly [field: string]: unknown
}

/** Whether the model may or must call a tool, or which one. */
export type ToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | { readonly type: string; readonly function?: { readonly name: string }; readonly [field: string]: unknown }

/** The format of the model's text: `text`, `json_object` or `json_schema`. */
export interface ResponseFormat {
  readonly type: string
  readonly json_schema?: {
    readonly name: string
    readonly schema?: Record<string, unknown>
    readonly strict?: boolean | null
    readonly [field: string]: unknown
  }
}

/** A call of a tool by the model. */
export interface ToolCall {
  readonly id: string
  readonly type: string
  readonly function?: { readonly name: string; readonly arguments: string }
  readonly [field: string]: unknown
}

/** Why the model stopped. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'

/** The non-streaming response of `POST /v1/chat/completions`. */
export interface ChatCompletion {
  readonly id: string
  readonly object: 'chat.completion'
  /** Seconds since the epoch. */
  readonly created: number
  readonly model: string
  readonly choices: readonly Choice[]
  readonly usage?: Usage
  readonly [field: string]: unknown
}

/** One choice of a chat completion. */
export interface Choice {
  readonly index: number
  readonly message: AssistantMessage
  readonly logprobs: unknown
  readonly finish_reason: FinishReason
  readonly [field: string]: unknown
}

/** The message that the model generated. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: string | null
  readonly refusal: string | null
  readonly tool_calls?: readonly ToolCall[]
  /** The model's reasoning as text, if the vendor reveals it. */
  readonly reasoning_content?: string
  readonly [field: string]: unknown
}

/** One event of a chat stream. A provider may omit fields that it does not know; the gateway fills them in. */
export interface ChatChunk {
  readonly id?: string
  readonly created?: number
  readonly model?: string
  readonly choices?: readonly ChunkChoice[]
  /** Totals so far; the last one replaces those before it. */
  readonly usage?: Usage | null
  readonly [field: string]: unknown
}

/** One choice in an event of a chat stream. */
export interface ChunkChoice {
  /** Default 0. */
  readonly index?: number
  readonly delta?: Delta
  /** Accepted in place of `delta`, as some vendors send it. */
  readonly message?: Delta
  readonly logprobs?: unknown
  readonly finish_reason?: string | null
  readonly [field: string]: unknown
}

/** The part of a message that an event adds. */
export interface Delta {
  readonly role?: string
  readonly content?: string | null
  readonly reasoning_content?: string | null
  readonly refusal?: string | null
  readonly tool_calls?: readonly ToolCallDelta[] | null
  readonly [field: string]: unknown
}

/** A piece of a tool call. Pieces with the same `index` form one call; the first one has its id and name. */
export interface ToolCallDelta {
  readonly index?: number
  readonly id?: string | null
  readonly type?: string | null
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown }
  readonly [field: string]: unknown
}
