import type { AgentSetup } from './setup.ts'
import type { Parts } from './options.ts'

export function geminiCli({ baseURL, apiKey, models: [first], name }: Parts): Omit<AgentSetup, 'paste'> {
  const path = `.gemini/${name}.json`
  // It takes no key for a base URL of one's own unless its settings say so, whatever the person has chosen before.
  const settings = { security: { auth: { selectedType: 'gemini-api-key' } } }
  return {
    environment: {
      GOOGLE_GEMINI_BASE_URL: baseURL,
      GEMINI_API_KEY: apiKey,
      GEMINI_MODEL: first.id,
      // The shell that sets the variable replaces `~` by the home directory.
      GEMINI_CLI_SYSTEM_SETTINGS_PATH: `~/${path}`,
    },
    file: { path, text: `${JSON.stringify(settings, undefined, 2)}\n` },
    command: 'gemini',
  }
}
