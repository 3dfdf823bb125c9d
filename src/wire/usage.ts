/** Token counts as OpenAI's chat and completions report them: `total_tokens` is always the sum of the other two. */
export interface Usage {
  /** All input tokens, cached ones included. */
  readonly prompt_tokens: number
  /** All output tokens, hidden reasoning included. */
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details?: {
    /** The part of `prompt_tokens` that was read from a cache. */
    readonly cached_tokens?: number
    /** The part of `prompt_tokens` that was written to a cache. */
    readonly cache_write_tokens?: number
    readonly [detail: string]: unknown
  }
  readonly completion_tokens_details?: {
    /** The part of `completion_tokens` that was spent on reasoning. */
    readonly reasoning_tokens?: number
    readonly [detail: string]: unknown
  }
}

/** Usage from counts that may lack a sum. */
export function usageOf(promptTokens: number, completionTokens: number): Usage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}
