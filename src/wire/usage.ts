import type { CountedUnits } from './units.ts'

/** Token counts of chat and completions, in OpenAI's shape. */
export interface Usage extends CountedUnits {
  /** All input tokens, cached ones included. */
  readonly prompt_tokens: number
  /** All output tokens, hidden reasoning included. */
  readonly completion_tokens: number
  /** The sum of the other two. */
  readonly total_tokens: number
  readonly prompt_tokens_details?: {
    /** Those of `prompt_tokens` that were read from the vendor's cache. */
    readonly cached_tokens?: number
    /** Those of `cached_tokens` that are not text. */
    readonly cached_tokens_details?: { readonly audio_tokens?: number; readonly image_tokens?: number }
    /** Those of `prompt_tokens` that were written to the vendor's cache. */
    readonly cache_write_tokens?: number
    /** Those of `cache_write_tokens` that the vendor keeps for one hour. */
    readonly cache_write_1h_tokens?: number
    /** Those of `prompt_tokens` that are audio, cached ones included. */
    readonly audio_tokens?: number
    /** Those of `prompt_tokens` that are images, cached ones included. */
    readonly image_tokens?: number
    /** Those of `prompt_tokens` that are video, cached ones included. */
    readonly video_tokens?: number
    readonly [detail: string]: unknown
  }
  readonly completion_tokens_details?: {
    /** Those of `completion_tokens` that were spent on reasoning. */
    readonly reasoning_tokens?: number
    /** Those of `completion_tokens` that are audio. */
    readonly audio_tokens?: number
    /** Those of `completion_tokens` that are images. */
    readonly image_tokens?: number
    /** Those of `completion_tokens` that are video. */
    readonly video_tokens?: number
    readonly [detail: string]: unknown
  }
  /**
   * Calls of tools that ran at the vendor, by the tool's name followed by `_requests` or `_calls`, such as
   * `web_search_requests`.
   */
  readonly server_tool_use?: Readonly<Record<string, number>>
  /** The vendor's service tier, such as `flex`, if the response has no field of its own for it. */
  readonly service_tier?: string
}

/** Usage with the sum of both counts. */
export function usageOf(promptTokens: number, completionTokens: number): Usage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}

/** Usage whose output is all audio. */
export function spokenUsage(usage: Usage): Usage {
  return { ...usage, completion_tokens_details: { audio_tokens: usage.completion_tokens } }
}

/** Token counts of images and transcriptions, in OpenAI's newer shape. */
export interface TokenUsage {
  /** All input tokens, cached ones included. */
  readonly input_tokens: number
  /** All output tokens. */
  readonly output_tokens: number
  /** The sum of the other two. */
  readonly total_tokens: number
  readonly [detail: string]: unknown
}
