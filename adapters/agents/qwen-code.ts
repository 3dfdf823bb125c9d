import type { AgentSetup } from './setup.ts'
import type { Parts } from './options.ts'

export function qwenCode({ baseURL, apiKey, models: [first] }: Parts): Omit<AgentSetup, 'paste'> {
  return {
    environment: { OPENAI_BASE_URL: `${baseURL}/v1`, OPENAI_API_KEY: apiKey, OPENAI_MODEL: first.id },
    command: 'qwen --auth-type openai',
  }
}
