/** `modelhatch/providers/openai`: OpenAI, and all vendors that speak its format. Loads no other vendor. */
export { openai } from './openai.ts'
export type { OpenAIOptions, PresetName } from './options.ts'
