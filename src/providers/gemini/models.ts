/** The differences between models. Sources: Google's documentation, and the model catalogue of `@ai-sdk/google`. */

import type { GeminiTraits } from '../content-traits.ts'

const newest: GeminiTraits = {
  thinking: 'levels',
  levels: ['minimal', 'low', 'medium', 'high'],
  budget: [0, 24_576],
  schemaBesideTools: true,
  wantsSignatures: true,
  richResults: true,
  instructions: true,
  fetchesUrls: true,
  interactions: false,
}

const second: GeminiTraits = {
  ...newest,
  thinking: 'none',
  schemaBesideTools: false,
  wantsSignatures: false,
  richResults: false,
  fetchesUrls: false,
}

/** The first match applies. */
const families: readonly (readonly [RegExp, GeminiTraits])[] = [
  [/gemini-omni-/, { ...newest, interactions: true }],
  [/gemma/, { ...second, instructions: false }],
  [/gemini-(?:1|2\.0)/, second],
  [/gemini-2\.5-(?:flash-image|.*tts)/, second],
  [/gemini-2\.5-pro/, { ...second, fetchesUrls: true, thinking: 'budget', budget: [128, 32_768] }],
  [/gemini-2\.5/, { ...second, fetchesUrls: true, thinking: 'budget' }],
  [/gemini-4-hydrogen/, { ...newest, levels: ['low', 'medium', 'high', 'xhigh'] }],
  [/gemini-[34].*pro|gemini-pro-latest/, { ...newest, levels: ['low', 'medium', 'high'] }],
]

/** The traits of a model. Unknown models are assumed to be new. */
export function traitsOf(model: string): GeminiTraits {
  return families.find(([name]) => name.test(model))?.[1] ?? newest
}
