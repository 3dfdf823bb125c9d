/** The number of prompts: each text, and each list of tokens, is one. */
export function promptsIn(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1
}
