/** The differences between models. Sources: Google's documentation, and the model catalogue of `@ai-sdk/google`. */

/** The capabilities of a model that decide how a request is translated for it. */
export interface GeminiTraits {
  /** How the model takes `reasoning_effort`: as one of `levels`, as a `budget` of tokens, or not at all. */
  readonly thinking: 'levels' | 'budget' | 'none'
  /** The model's thinking levels, lowest first. The effort `none` selects the lowest. */
  readonly levels: readonly string[]
  /** The minimum and maximum thinking budget, in tokens. */
  readonly budget: readonly [number, number]
  /** Whether the model accepts a response schema together with tools. If not, a forced tool replaces the schema. */
  readonly schemaBesideTools: boolean
  /** Whether the model rejects earlier tool calls without a signature, unless they are marked as unsigned. */
  readonly wantsSignatures: boolean
  /** Whether tool results may contain images. */
  readonly richResults: boolean
  /** Whether the model accepts `systemInstruction`. If not, instructions become a user message. */
  readonly instructions: boolean
}

const newest: GeminiTraits = {
  thinking: 'levels',
  levels: ['minimal', 'low', 'medium', 'high'],
  budget: [0, 24_576],
  schemaBesideTools: true,
  wantsSignatures: true,
  richResults: true,
  instructions: true,
}

const second: GeminiTraits = {
  ...newest,
  thinking: 'none',
  schemaBesideTools: false,
  wantsSignatures: false,
  richResults: false,
}

/** The first match applies. */
const families: readonly (readonly [RegExp, GeminiTraits])[] = [
  [/gemma/, { ...second, instructions: false }],
  [/gemini-(?:1|2\.0)/, second],
  [/gemini-2\.5-(?:flash-image|.*tts)/, second],
  [/gemini-2\.5-pro/, { ...second, thinking: 'budget', budget: [128, 32_768] }],
  [/gemini-2\.5/, { ...second, thinking: 'budget' }],
  [/gemini-4-hydrogen/, { ...newest, levels: ['low', 'medium', 'high', 'xhigh'] }],
  [/gemini-[34].*pro|gemini-pro-latest/, { ...newest, levels: ['low', 'medium', 'high'] }],
]

/** The traits of a model. Unknown models are assumed to be new. */
export function traitsOf(model: string): GeminiTraits {
  return families.find(([name]) => name.test(model))?.[1] ?? newest
}
