/** OpenAI's embeddings. Source: OpenAI's OpenAPI document, CreateEmbeddingRequest and CreateEmbeddingResponse. */

/** One text, several, one list of tokens, or several of them. */
export type EmbeddingInput = string | readonly string[] | readonly number[] | readonly (readonly number[])[]

export interface EmbeddingRequest {
  readonly model: string
  readonly input: EmbeddingInput
  /** `base64`: little-endian 32-bit floats. Default `float`; the official clients ask for `base64`. */
  readonly encoding_format?: 'float' | 'base64' | null
  /** Length of the vectors, for models that let one choose. */
  readonly dimensions?: number | null
  readonly [field: string]: unknown
}

export interface EmbeddingList {
  readonly object?: 'list'
  /** One vector for each input, in the order of `index`. */
  readonly data: readonly Embedding[]
  readonly model?: string
  readonly usage?: EmbeddingUsage
  readonly [field: string]: unknown
}

export interface Embedding {
  readonly object?: 'embedding'
  /** Which input. Default: the place in the list. */
  readonly index?: number
  /** Numbers, or base64 of little-endian 32-bit floats. Either is taken from a provider, whatever was asked for. */
  readonly embedding: string | readonly number[]
}

export interface EmbeddingUsage {
  readonly prompt_tokens: number
  readonly total_tokens: number
  readonly [detail: string]: unknown
}
