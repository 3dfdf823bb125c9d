/** What a vendor's messages accept, for requests that the gateway translates into messages. Absent fields: all of the format. */
export interface MessageTraits {
  /** Whether instructions may stand between other messages. If not, the user's message contains them. Default false. */
  readonly systemAnywhere?: boolean
  /** What the model is able to do, if it is one of Claude's. Default: whatever the format can say. */
  readonly claude?: ClaudeTraits
  /**
   * How to treat a `temperature`, `top_p` or `top_k` that the model does not accept. `fit`: reduce a temperature above 1 to
   * 1, and drop the others. `refuse`: respond with a 400. Default `fit`.
   */
  readonly sampling?: 'fit' | 'refuse' | undefined
  /** Fields of a chat without a counterpart that are dropped instead of refused, such as `['seed']`. Default: none. */
  readonly dropParams?: readonly string[] | undefined
}

/** The capabilities of a model that decide how a request is translated for it. */
export interface ClaudeTraits {
  /** Output limit in tokens if neither client nor registry has one: the API requires a limit. */
  readonly maxTokens: number
  /** How the model takes `reasoning_effort`: as an effort (`adapts`), as a `budget` of tokens, or not at all. */
  readonly thinking: 'adapts' | 'budget' | 'none'
  /** The translation of the effort `none`. */
  readonly leastThinking: 'disabled' | 'between_tools' | 'low'
  /** The efforts above `high` that the model supports. */
  readonly efforts: readonly ('xhigh' | 'max')[]
  /** Whether the model accepts `temperature`, `top_p` and `top_k`. `one`: only one of the first two. */
  readonly sampling: 'all' | 'one' | 'none'
  /** Whether the model supports JSON schemas for responses. If not, a forced tool replaces the schema. */
  readonly schemas: boolean
  /** Whether `tool_choice` may force a tool call. */
  readonly forcedTools: boolean
}
