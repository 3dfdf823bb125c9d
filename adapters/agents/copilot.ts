import type { AgentSetup } from './setup.ts'
import type { Parts } from './options.ts'

export function copilot({ baseURL, apiKey, models: [first], webSockets }: Parts): Omit<AgentSetup, 'paste'> {
  const { id, contextWindow, maxOutputTokens } = first
  return {
    environment: {
      COPILOT_PROVIDER_BASE_URL: `${baseURL}/v1`,
      COPILOT_PROVIDER_API_KEY: apiKey,
      COPILOT_PROVIDER_WIRE_API: 'responses',
      ...(webSockets && { COPILOT_PROVIDER_TRANSPORT: 'websockets' }),
      COPILOT_MODEL: id,
      ...(contextWindow !== undefined && { COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(contextWindow) }),
      ...(maxOutputTokens !== undefined && { COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: String(maxOutputTokens) }),
    },
    command: 'copilot',
  }
}
