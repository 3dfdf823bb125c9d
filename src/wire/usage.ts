/** Token counts of chat and completions, in OpenAI's shape. */
export interface Usage {
  /** All input tokens, cached ones included. */
  readonly prompt_tokens: number
  /** All output tokens, hidden reasoning included. */
  readonly completion_tokens: number
  /** The sum of the other two. */
  readonly total_tokens: number
  readonly prompt_tokens_details?: {
    /** Those of `prompt_tokens` that were read from the vendor's cache. */
    readonly cached_tokens?: number
    /** Those of `prompt_tokens` that were written to the vendor's cache. */
    readonly cache_write_tokens?: number
    readonly [detail: string]: unknown
  }
  readonly completion_tokens_details?: {
    /** Those of `completion_tokens` that were spent on reasoning. */
    readonly reasoning_tokens?: number
    readonly [detail: string]: unknown
  }
}

/** Usage with the sum of both counts. */
export function usageOf(promptTokens: number, completionTokens: number): Usage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}
