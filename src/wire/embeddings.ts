/** OpenAI's embeddings. Source: OpenAI's OpenAPI document, CreateEmbeddingRequest and CreateEmbeddingResponse. */

/** One text, several texts, one list of tokens, or several lists of tokens. */
export type EmbeddingInput = string | readonly string[] | readonly number[] | readonly (readonly number[])[]

/** The body of `POST /v1/embeddings`. */
export interface EmbeddingRequest {
  readonly model: string
  readonly input: EmbeddingInput
  /** `base64`: little-endian 32-bit floats. Default `float`; the official clients request `base64`. */
  readonly encoding_format?: 'float' | 'base64' | null
  /** Length of the vectors, for models with a configurable length. */
  readonly dimensions?: number | null
  readonly [field: string]: unknown
}

/** The response of `POST /v1/embeddings`. */
export interface EmbeddingList {
  readonly object?: 'list'
  /** One vector for each input, in the order of `index`. */
  readonly data: readonly Embedding[]
  readonly model?: string
  readonly usage?: EmbeddingUsage
  readonly [field: string]: unknown
}

/** The vector of one input. */
export interface Embedding {
  readonly object?: 'embedding'
  /** Index of the input. Default: the index in the list. */
  readonly index?: number
  /** Numbers, or base64 of little-endian 32-bit floats. A provider may return either; the gateway converts. */
  readonly embedding: string | readonly number[]
}

/** Token counts of an embeddings request. */
export interface EmbeddingUsage {
  readonly prompt_tokens: number
  readonly total_tokens: number
  readonly [detail: string]: unknown
}
