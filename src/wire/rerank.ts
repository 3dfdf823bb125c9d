/** The shapes of rerank that Cohere and Jina share. Sources: their API references. */
import type { Usage } from './usage.ts'

/** The body of `POST /v1/rerank`. */
export interface RerankRequest {
  readonly model: string
  readonly query: string
  /** Texts, or objects with the field `text`. Providers get texts. */
  readonly documents: readonly (string | Readonly<Record<string, unknown>>)[]
  /** How many results to return. Default: all. */
  readonly top_n?: number | null
  /** Whether results have their document. Default false. Providers do not get it. */
  readonly return_documents?: boolean | null
  /** The fields of documents that are objects which are compared. Default `text`. Providers do not get it. */
  readonly rank_fields?: readonly string[] | null
  readonly [field: string]: unknown
}

/** How relevant a document is. */
export interface RerankResult {
  /** The place of the document in the request. */
  readonly index: number
  readonly relevance_score: number
}

/** What a provider returns: the results in any order. */
export interface RerankAnswer {
  readonly results: readonly RerankResult[]
  /** The tokens that were read, if the vendor charges for them. */
  readonly usage?: Usage | undefined
  /** The searches that the vendor charges for. */
  readonly searches?: number | undefined
}
