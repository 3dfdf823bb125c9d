/** `modelhatch/providers/gemini`: Google. Loads no other vendor. */
export { gemini } from './gemini.ts'
export type { GeminiOptions } from './options.ts'
