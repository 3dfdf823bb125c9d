/** What differs from one Gemini to the next. Source: Google's documentation and the model catalogue of `@ai-sdk/google`. */

export interface GeminiTraits {
  /** How the model is told to think: by one of `levels`, by a `budget` of tokens, or not at all. */
  readonly thinking: 'levels' | 'budget' | 'none'
  /** From the least to the most. Effort `none` means the least, where thinking cannot be turned off. */
  readonly levels: readonly string[]
  /** Tokens: the least and the most. */
  readonly budget: readonly [number, number]
  /** Whether a schema for the answer may stand beside tools. If not, a tool that must be called stands in. */
  readonly schemaBesideTools: boolean
  /** Whether a call of the past without its signature is refused unless it says so. */
  readonly wantsSignatures: boolean
  /** Whether the result of a tool may hold images. */
  readonly richResults: boolean
  /** Whether there is a place for instructions outside the conversation. */
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

/** The first that fits counts. */
const families: readonly (readonly [RegExp, GeminiTraits])[] = [
  [/gemma/, { ...second, instructions: false }],
  [/gemini-(?:1|2\.0)/, second],
  [/gemini-2\.5-(?:flash-image|.*tts)/, second],
  [/gemini-2\.5-pro/, { ...second, thinking: 'budget', budget: [128, 32_768] }],
  [/gemini-2\.5/, { ...second, thinking: 'budget' }],
  [/gemini-4-hydrogen/, { ...newest, levels: ['low', 'medium', 'high', 'xhigh'] }],
  [/gemini-[34].*pro|gemini-pro-latest/, { ...newest, levels: ['low', 'medium', 'high'] }],
]

/** A model younger than this table counts as one of the newest. */
export function traitsOf(model: string): GeminiTraits {
  return families.find(([name]) => name.test(model))?.[1] ?? newest
}
