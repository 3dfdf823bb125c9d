/**
 * OpenAI's legacy text completions. Unknown fields are kept. Source: OpenAI's OpenAPI document,
 * CreateCompletionRequest and CreateCompletionResponse; the chunks of a stream have the shape of the whole response.
 */
import type { Usage } from './usage.ts'

/** One text, several texts, one list of tokens, or several lists of tokens. */
export type Prompt = string | readonly string[] | readonly number[] | readonly (readonly number[])[]

/** The body of `POST /v1/completions`. */
export interface CompletionRequest {
  readonly model: string
  /** Default: the token that begins a document; for most models an empty text. */
  readonly prompt?: Prompt | null
  readonly stream?: boolean | null
  readonly stream_options?: { readonly include_usage?: boolean; readonly [option: string]: unknown } | null
  /** Maximum number of tokens to generate. Default 16. */
  readonly max_tokens?: number | null
  /** Choices for each prompt. Default 1. */
  readonly n?: number | null
  /** Candidates generated for each prompt, of which the best `n` are returned. */
  readonly best_of?: number | null
  /** Whether each choice begins with its prompt. */
  readonly echo?: boolean | null
  /** Text that follows the generated text. */
  readonly suffix?: string | null
  /** Number of alternatives for each token, 0 to 5. */
  readonly logprobs?: number | null
  readonly stop?: string | readonly string[] | null
  readonly [field: string]: unknown
}

/** The non-streaming response of `POST /v1/completions`. */
export interface TextCompletion {
  readonly id: string
  readonly object: 'text_completion'
  /** Seconds since the epoch. */
  readonly created: number
  readonly model: string
  /** `n` choices for each prompt, grouped by prompt. */
  readonly choices: readonly TextChoice[]
  readonly usage?: Usage
  readonly [field: string]: unknown
}

/** One choice of a text completion. */
export interface TextChoice {
  readonly text: string
  readonly index: number
  readonly logprobs: unknown
  readonly finish_reason: TextFinishReason
  readonly [field: string]: unknown
}

/** Why the model stopped. */
export type TextFinishReason = 'stop' | 'length' | 'content_filter'

/** One event of a completion stream. A provider may omit fields that it does not know; the gateway fills them in. */
export interface TextChunk {
  readonly id?: string
  readonly created?: number
  readonly model?: string
  readonly choices?: readonly TextChunkChoice[]
  /** Totals so far; the last one replaces those before it. */
  readonly usage?: Usage | null
  readonly [field: string]: unknown
}

/** One choice in an event of a completion stream. */
export interface TextChunkChoice {
  /** Default 0. */
  readonly index?: number
  readonly text?: string | null
  readonly logprobs?: unknown
  readonly finish_reason?: string | null
  readonly [field: string]: unknown
}

/** The number of prompts: each text, and each list of tokens, is one. */
export function promptsIn(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1
}
