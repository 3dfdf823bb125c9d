/** `modelhatch/providers/identity`: keys of vendors by the identity of the workload. Loads no vendor. */
export {
  anthropicIdentity,
  entraIdentity,
  openaiIdentity,
  openrouterIdentity,
  type AnthropicIdentity,
  type EntraCredential,
  type OpenAIIdentity,
  type OpenRouterIdentity,
} from './identity.ts'
export type { IdentityToken, TokenFile } from './exchange.ts'
