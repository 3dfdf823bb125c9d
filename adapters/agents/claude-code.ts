import type { AgentSetup } from './setup.ts'
import type { Parts } from './options.ts'

/** The tiers of Claude Code. It uses the last one for small tasks of its own. */
const tiers = ['opus', 'sonnet', 'haiku']

/** Names that its menu shows. */
const listed = /^(?:claude|anthropic)/i

export function claudeCode({ baseURL, apiKey, models: [first, ...others] }: Parts): Omit<AgentSetup, 'paste'> {
  const ids = [first, ...others].map(({ id }) => id)
  const byTier = tiers.map((tier) => [
    `ANTHROPIC_DEFAULT_${tier.toUpperCase()}_MODEL`,
    // Every tier must name a model that the gateway has.
    ids.find((id) => id.toLowerCase().includes(tier)) ?? first.id,
  ])
  return {
    environment: {
      ANTHROPIC_BASE_URL: baseURL,
      ANTHROPIC_AUTH_TOKEN: apiKey,
      // Would take precedence over the token.
      ANTHROPIC_API_KEY: '',
      ANTHROPIC_MODEL: first.id,
      // Else its system text begins with a line that changes with every prompt, so that no vendor's cache serves it.
      CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
      ...Object.fromEntries(byTier),
      // It takes models that it does not know for ones of a million tokens.
      ...(first.contextWindow !== undefined && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(first.contextWindow) }),
      ...(ids.some((id) => listed.test(id)) && { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' }),
    },
    command: 'claude',
  }
}
