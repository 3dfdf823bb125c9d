/** The differences between models. Sources: the model catalogue of `@ai-sdk/anthropic`, and Anthropic's documentation. */

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

const legacy: ClaudeTraits = {
  maxTokens: 4_096,
  thinking: 'none',
  leastThinking: 'disabled',
  efforts: [],
  sampling: 'all',
  schemas: false,
  forcedTools: true,
}

const budgeted: ClaudeTraits = { ...legacy, maxTokens: 64_000, thinking: 'budget' }

const adaptive: ClaudeTraits = {
  ...budgeted,
  maxTokens: 128_000,
  thinking: 'adapts',
  efforts: ['max'],
  sampling: 'one',
  schemas: true,
}

const current: ClaudeTraits = { ...adaptive, efforts: ['xhigh', 'max'], sampling: 'none' }

/** The first match applies. The patterns match parts of names, because clouds and gateways add prefixes and suffixes. */
const families: readonly (readonly [RegExp, ClaudeTraits])[] = [
  [/sonnet-5-5/, { ...current, leastThinking: 'between_tools', forcedTools: false }],
  [/opus-5-5/, { ...current, leastThinking: 'low', forcedTools: false }],
  [/fable-5-[12]/, { ...current, leastThinking: 'low', forcedTools: false }],
  [/fable-5/, { ...current, leastThinking: 'low' }],
  [/(?:opus|sonnet|haiku)-5|opus-4-[78]/, current],
  [/(?:opus|sonnet)-4-6/, adaptive],
  [/(?:opus|sonnet|haiku)-4-5/, { ...budgeted, sampling: 'one', schemas: true }],
  [/opus-4-1/, { ...budgeted, maxTokens: 32_000, sampling: 'one', schemas: true }],
  [/opus-4/, { ...budgeted, maxTokens: 32_000 }],
  [/sonnet-4/, budgeted],
  [/3-7-sonnet/, { ...budgeted, maxTokens: 8_192 }],
  [/3-5-(?:sonnet|haiku)/, { ...legacy, maxTokens: 8_192 }],
  [/claude-(?:instant|v?2|3)/, legacy],
  // Newer than this table.
  [/claude-/, current],
]

/** The traits of a model. Models other than Claude get those of the oldest, which use the fewest features. */
export function traitsOf(model: string): ClaudeTraits {
  return families.find(([name]) => name.test(model))?.[1] ?? legacy
}
