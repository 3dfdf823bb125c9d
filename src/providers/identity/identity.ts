/** Keys of vendors without a secret: by the identity of the workload. Each function makes the `apiKey` of a provider. */
import type { ExpiringHeaders, ExpiringToken } from '../credentials/token.ts'
import { bearer } from '../credentials/key.ts'
import { exchanged, type IdentityToken } from './exchange.ts'

const exchangeOf = (subject: string) => ({
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  subject_token: subject,
})

/** A service account at OpenAI. */
export interface OpenAIIdentity {
  /** The provider that OpenAI knows the platform as. */
  readonly identityProviderId: string
  /** The account that the requests are made by. */
  readonly serviceAccountId: string
  /** The token of the platform: a signed JWT. */
  readonly token: IdentityToken
  /** Default `https://auth.openai.com/oauth/token`. */
  readonly url?: string
}

/**
 * A key for `openai` by workload identity federation.
 *
 * @example
 * openai({ apiKey: openaiIdentity({ identityProviderId, serviceAccountId, token: { file } }) })
 */
export function openaiIdentity(options: OpenAIIdentity): () => Promise<ExpiringToken> {
  const { identityProviderId, serviceAccountId, token, url = 'https://auth.openai.com/oauth/token' } = options
  const ids = { identity_provider_id: identityProviderId, service_account_id: serviceAccountId }
  return () => exchanged({ url, token, fields: (subject) => ({ ...exchangeOf(subject), ...ids }) })
}

/** A federation policy at OpenRouter. */
export interface OpenRouterIdentity {
  /** The id under the name of the policy. */
  readonly federationPolicyId: string
  /** The token of the platform: a signed JWT. */
  readonly token: IdentityToken
  /** Default `https://openrouter.ai/api/v1/oauth/token`. */
  readonly url?: string
}

/**
 * A key for `openai` with the preset `openrouter` by workload identity federation.
 *
 * @example
 * openai({ preset: 'openrouter', apiKey: openrouterIdentity({ federationPolicyId, token: { file } }) })
 */
export function openrouterIdentity(options: OpenRouterIdentity): () => Promise<ExpiringToken> {
  const { federationPolicyId, token, url = 'https://openrouter.ai/api/v1/oauth/token' } = options
  const fields = (subject: string) => ({ ...exchangeOf(subject), federation_policy_id: federationPolicyId })
  return () => exchanged({ url, token, fields, asForm: true })
}

/** A federation rule at Anthropic. */
export interface AnthropicIdentity {
  /** Such as `fdrl_…`. */
  readonly federationRuleId: string
  /** The organization of the rule. */
  readonly organizationId: string
  /** Required by rules for several service accounts. */
  readonly serviceAccountId?: string | undefined
  /** Required by rules for several workspaces. */
  readonly workspaceId?: string | undefined
  /** The token of the platform: a signed JWT. */
  readonly token: IdentityToken
  /** Default `https://api.anthropic.com/v1/oauth/token`. */
  readonly url?: string
}

const oauth = 'oauth-2025-04-20'

/**
 * A key for `anthropic` by workload identity federation.
 *
 * @example
 * anthropic({ apiKey: anthropicIdentity({ federationRuleId, organizationId, token: { file } }) })
 */
export function anthropicIdentity(options: AnthropicIdentity): () => Promise<ExpiringHeaders> {
  const { federationRuleId, organizationId, serviceAccountId, workspaceId, token } = options
  const { url = 'https://api.anthropic.com/v1/oauth/token' } = options
  const fields = (assertion: string) => ({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion,
    federation_rule_id: federationRuleId,
    organization_id: organizationId,
    ...(serviceAccountId !== undefined && { service_account_id: serviceAccountId }),
    ...(workspaceId !== undefined && { workspace_id: workspaceId }),
  })
  const headers = { 'anthropic-beta': `${oauth},oidc-federation-2026-04-01` }
  return async () => {
    const { token: key, expiresAt } = await exchanged({ url, token, fields, headers })
    return { headers: { ...bearer(key), 'anthropic-beta': oauth }, expiresAt }
  }
}

/** A credential of `@azure/identity`, or anything with its method. */
export interface EntraCredential {
  /** The token for a scope, which the credential caches. */
  getToken(scope: string): Promise<EntraToken | null> | EntraToken | null
}

interface EntraToken {
  readonly token: string
  /** Milliseconds since the epoch. */
  readonly expiresOnTimestamp: number
}

/**
 * A key for models on Azure by Entra. `scope`: default that of Azure's AI services.
 *
 * @example
 * openai({ preset: 'azure', baseURL, apiKey: entraIdentity(new DefaultAzureCredential()) })
 */
export function entraIdentity(
  credential: EntraCredential,
  scope = 'https://cognitiveservices.azure.com/.default',
): () => Promise<ExpiringHeaders> {
  if (typeof credential?.getToken !== 'function') {
    throw new TypeError('entraIdentity: the credential must have "getToken", as those of @azure/identity have')
  }
  return async () => {
    const given = await credential.getToken(scope)
    if (given === null) throw new Error('the credential of Entra returned no token')
    return { headers: bearer(given.token), expiresAt: given.expiresOnTimestamp }
  }
}
