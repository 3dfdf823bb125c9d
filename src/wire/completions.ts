/**
 * OpenAI's legacy text completions. Unknown fields are kept. Source: OpenAI's OpenAPI document,
 * CreateCompletionRequest and CreateCompletionResponse; a stream uses the shape of the whole answer in every chunk.
 */
import type { Usage } from './usage.ts'

/** One text, several, one list of tokens, or several of them. */
export type Prompt = string | readonly string[] | readonly number[] | readonly (readonly number[])[]

export interface CompletionRequest {
  readonly model: string
  /** Default: the token that begins a document, an empty text for most models. */
  readonly prompt?: Prompt | null
  readonly stream?: boolean | null
  readonly stream_options?: { readonly include_usage?: boolean; readonly [option: string]: unknown } | null
  /** Default 16. */
  readonly max_tokens?: number | null
  /** Answers to each prompt. Default 1. */
  readonly n?: number | null
  /** Answers made for each prompt, of which the best `n` are given back. */
  readonly best_of?: number | null
  /** Give back the prompt in front of the answer. */
  readonly echo?: boolean | null
  /** What stands behind the text that is to be found. */
  readonly suffix?: string | null
  /** 0 to 5. */
  readonly logprobs?: number | null
  readonly stop?: string | readonly string[] | null
  readonly [field: string]: unknown
}

export interface TextCompletion {
  readonly id: string
  readonly object: 'text_completion'
  /** Seconds since the epoch. */
  readonly created: number
  readonly model: string
  /** Prompts × `n`; the answers to one prompt stand together. */
  readonly choices: readonly TextChoice[]
  readonly usage?: Usage
  readonly [field: string]: unknown
}

export interface TextChoice {
  readonly text: string
  readonly index: number
  readonly logprobs: unknown
  readonly finish_reason: TextFinishReason
  readonly [field: string]: unknown
}

export type TextFinishReason = 'stop' | 'length' | 'content_filter'

/** One event of a completion stream. A provider may leave out whatever it does not know; the gateway completes it. */
export interface TextChunk {
  readonly id?: string
  readonly created?: number
  readonly model?: string
  readonly choices?: readonly TextChunkChoice[]
  /** Totals so far. The last one seen counts. */
  readonly usage?: Usage | null
  readonly [field: string]: unknown
}

export interface TextChunkChoice {
  /** Default 0. */
  readonly index?: number
  readonly text?: string | null
  readonly logprobs?: unknown
  readonly finish_reason?: string | null
  readonly [field: string]: unknown
}
