/** `modelhatch/providers/bedrock`: Amazon Bedrock. Loads the providers of Anthropic and OpenAI. */
export {
  bedrock,
  type BedrockAccess,
  type BedrockAnthropicOptions,
  type BedrockOpenAIOptions,
  type BedrockOptions,
} from './bedrock.ts'
export type { AwsKeys } from './signature.ts'
