/** A field of which charts have series. */
export type SeriesDimension = 'account' | 'group' | 'key' | 'model' | 'endpoint' | 'user'

/** What rows are compared by: `tokens` are those of prompts and completions. */
export type UsageMeasure = 'cost' | 'requests' | 'tokens'

/** Rows of sums with some of the values of a dimension. */
export interface NamedRows {
  /** One of the dimensions of the question. */
  readonly dimension: SeriesDimension
  /** The values of the rows. */
  readonly values: readonly string[]
}

/** The rows with the largest sums. */
export interface LargestRows {
  /** Number of rows, at least 1. */
  readonly most: number
  /** What they are compared by. */
  readonly measure: UsageMeasure
}
