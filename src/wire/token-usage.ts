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
