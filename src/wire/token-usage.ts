/** Token counts as OpenAI's newer endpoints (images, transcriptions, responses) report them. */
export interface TokenUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly [detail: string]: unknown
}
