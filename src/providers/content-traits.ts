/**
 * What a vendor's generateContent accepts, for requests that the gateway translates into it. What is absent is accepted:
 * without traits, all of the format.
 */
export interface ContentTraits extends Partial<GeminiTraits> {
  /** Fields of chats without a counterpart that are dropped instead of refused, such as `['logit_bias']`. Default: none. */
  readonly dropParams?: readonly string[] | undefined
}

/** The capabilities of a model that decide how a request is translated for it. */
export interface GeminiTraits {
  /** How the model takes `reasoning_effort`: as one of `levels`, as a `budget` of tokens, or not at all. */
  readonly thinking: 'levels' | 'budget' | 'none'
  /** The model's thinking levels, lowest first. The effort `none` selects the lowest. */
  readonly levels: readonly string[]
  /** The minimum and maximum thinking budget, in tokens. */
  readonly budget: readonly [number, number]
  /** Whether the model accepts a response schema together with tools. If not, a forced tool replaces the schema. */
  readonly schemaBesideTools: boolean
  /** Whether the model rejects earlier tool calls without a signature, unless they are marked as unsigned. */
  readonly wantsSignatures: boolean
  /** Whether tool results may contain images. */
  readonly richResults: boolean
  /** Whether the API fetches URLs of everybody for the model. If not, only those of Google. */
  readonly fetchesUrls: boolean
  /** Whether the model is only in the Interactions API. Not on Vertex AI. */
  readonly interactions: boolean
  /** Whether the model accepts `systemInstruction`. If not, instructions become a user message. */
  readonly instructions: boolean
}

/** Whether a request is for a certain model, and not for the format as such. */
export function isForModel({ thinking }: ContentTraits): boolean {
  return thinking !== undefined
}
