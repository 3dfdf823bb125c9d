/** `modelhatch/providers/vertex`: Google's Vertex AI. Loads the providers of Anthropic, Google and OpenAI. */
export {
  vertex,
  type VertexAccess,
  type VertexAnthropicOptions,
  type VertexGeminiOptions,
  type VertexOpenAIOptions,
  type VertexOptions,
} from './vertex.ts'
export type { GoogleCredentials } from './google.ts'
