/** What differs from one Claude to the next. Source: the model catalogue of `@ai-sdk/anthropic` and Anthropic's documentation. */

export interface ClaudeTraits {
  /** Output tokens when neither client nor registry names a limit: the API insists on one. */
  readonly maxTokens: number
  /** How the model is told to think: it `adapts` to an effort, gets a `budget` of tokens, or cannot (`none`). */
  readonly thinking: 'adapts' | 'budget' | 'none'
  /** What stands for the effort `none`. */
  readonly leastThinking: 'disabled' | 'between_tools' | 'low'
  /** The highest efforts the model knows besides low, medium and high. */
  readonly efforts: readonly ('xhigh' | 'max')[]
  /** Whether it takes `temperature`, `top_p` and `top_k`. `one`: one of the first two. */
  readonly sampling: 'all' | 'one' | 'none'
  /** Whether it can be held to a JSON schema; if not, a tool it must call stands in. */
  readonly schemas: boolean
  /** Whether `tool_choice` may force a call. */
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

/** The first that fits counts; names are those of Anthropic, of clouds and of gateways, so a part is looked for. */
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
  // Younger than this table.
  [/claude-/, current],
]

/** A model of another maker behind the same API counts as an old one: that asks the least of it. */
export function traitsOf(model: string): ClaudeTraits {
  return families.find(([name]) => name.test(model))?.[1] ?? legacy
}
