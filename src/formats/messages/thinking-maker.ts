import { bareMaker } from '../envelope.ts'

/**
 * Families of models other than Claude that vendors offer through Anthropic's Messages API. Their signatures are theirs
 * alone, and Claude rejects them.
 */
const families =
  /(?:^|[^a-z])(deepseek|devstral|doubao|ernie|gemini|gemma|glm|gpt|granite|grok|hunyuan|kimi|llama|longcat|magistral|mimo|minimax|mistral|nemotron|qwen|qwq|seed|step)/i

/** Who can read the thinking of a model, in messages of a vendor that has that API. Unknown models count as Claude's. */
export function thinkingMakerOf(model: string): string {
  const family = /claude/i.test(model) ? undefined : families.exec(model)?.[1]
  return family === undefined ? bareMaker : `messages/${family.toLowerCase()}`
}
