/** What a vendor's responses accept. Without them, the whole wire can be said. */
export interface ResponsesTraits {
  /**
   * The vendor keeps nothing, and returns its reasoning encrypted. Default false: the client's own fields say what it keeps.
   */
  readonly stateless?: boolean
  /** The least that `max_output_tokens` may be. Default 1. */
  readonly leastTokens?: number
}
