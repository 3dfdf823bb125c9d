/** The sums of a usage summary and their columns in the tables of both SQL stores. */
export const sums = {
  promptTokens: 'prompt_tokens',
  cachedTokens: 'cached_tokens',
  completionTokens: 'completion_tokens',
  reasoningTokens: 'reasoning_tokens',
  images: 'images',
  seconds: 'seconds',
} as const
