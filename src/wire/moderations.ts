/** OpenAI's moderations. Source: OpenAI's OpenAPI document, CreateModerationRequest and CreateModerationResponse. */

/** The 13 categories of OpenAI's `omni-moderation` models. */
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

/** The name of a moderation category. */
export type ModerationCategory = (typeof moderationCategories)[number]

/** One text, several texts that are classified one by one, or parts that are classified together. */
export type ModerationInput = string | readonly string[] | readonly ModerationPart[]

/** A text or an image to be classified; the URL may be a `data:` URL. */
export type ModerationPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }

/** The body of `POST /v1/moderations`. */
export interface ModerationRequest {
  /** Default: `omni-moderation-latest`. */
  readonly model: string
  readonly input: ModerationInput
  readonly [field: string]: unknown
}

/** The response of `POST /v1/moderations`. */
export interface ModerationList {
  readonly id?: string
  readonly model?: string
  /** One result for each text of a list, in its order; one for a single text, and one for all parts together. */
  readonly results: readonly ModerationResult[]
  /** Not reported by OpenAI; some other vendors do. */
  readonly usage?: unknown
  readonly [field: string]: unknown
}

/** The classification of one input. */
export interface ModerationResult {
  /** Default: whether any category is true. */
  readonly flagged?: boolean
  /** Missing categories are false. Older models of OpenAI have null for the two `illicit` ones. */
  readonly categories: Readonly<Partial<Record<ModerationCategory, boolean | null>>>
  /** From 0 to 1. Missing categories are 0. */
  readonly category_scores?: Readonly<Partial<Record<ModerationCategory, number | null>>>
  /** The kinds of input that were checked for a category. Missing categories are an empty list. */
  readonly category_applied_input_types?: Readonly<Partial<Record<ModerationCategory, readonly ('text' | 'image')[]>>>
  readonly [field: string]: unknown
}
