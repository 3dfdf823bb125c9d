/** `modelhatch/providers/anthropic`: Anthropic. Loads no other vendor. */
export { anthropic, type AnthropicOptions } from './anthropic.ts'
