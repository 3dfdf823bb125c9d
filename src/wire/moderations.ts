/** OpenAI's moderations. Source: OpenAI's OpenAPI document, CreateModerationRequest and CreateModerationResponse. */

export const moderationCategories = [
  'hate',
  'hate/threatening',
  'harassment',
  'harassment/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
] as const

export type ModerationCategory = (typeof moderationCategories)[number]

/** One text, several that are judged one by one, or parts that are judged together. */
export type ModerationInput = string | readonly string[] | readonly ModerationPart[]

export type ModerationPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }

export interface ModerationRequest {
  /** Default: `omni-moderation-latest`. */
  readonly model: string
  readonly input: ModerationInput
  readonly [field: string]: unknown
}

export interface ModerationList {
  readonly id?: string
  readonly model?: string
  /** One for each text of a list, in its order; one for a single text, and one for all parts together. */
  readonly results: readonly ModerationResult[]
  /** OpenAI counts nothing; some other vendors do. */
  readonly usage?: unknown
  readonly [field: string]: unknown
}

export interface ModerationResult {
  /** Default: whether any category is true. */
  readonly flagged?: boolean
  /** What is missing is false. Older models of OpenAI have null for the two `illicit` ones. */
  readonly categories: Readonly<Partial<Record<ModerationCategory, boolean | null>>>
  /** From 0 to 1. What is missing is 0. */
  readonly category_scores?: Readonly<Partial<Record<ModerationCategory, number | null>>>
  /** The kinds of input that were looked at for a category. What is missing is an empty list. */
  readonly category_applied_input_types?: Readonly<Partial<Record<ModerationCategory, readonly ('text' | 'image')[]>>>
  readonly [field: string]: unknown
}
