/** The differences between models. Sources: the model catalogue of `@ai-sdk/anthropic`, and Anthropic's documentation. */

import type { ClaudeTraits } from '../message-traits.ts'

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
