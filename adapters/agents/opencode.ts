import type { AgentSetup } from './setup.ts'
import { keyVariable, type AgentModel, type Parts } from './options.ts'

export function opencode({ baseURL, apiKey, models, name }: Parts): Omit<AgentSetup, 'paste'> {
  const variable = keyVariable(name)
  const path = `.config/opencode/${name}.json`
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name,
    options: { baseURL: `${baseURL}/v1`, apiKey: `{env:${variable}}` },
    models: Object.fromEntries(models.map((model) => [model.id, entryOf(model)])),
  }
  const config = {
    $schema: 'https://opencode.ai/config.json',
    model: `${name}/${models[0].id}`,
    provider: { [name]: provider },
  }
  return {
    // The shell that sets the variable replaces `~` by the home directory.
    environment: { OPENCODE_CONFIG: `~/${path}`, [variable]: apiKey },
    file: { path, text: `${JSON.stringify(config, undefined, 2)}\n` },
    command: 'opencode',
  }
}

function entryOf({ id, displayName = id, contextWindow, maxOutputTokens }: AgentModel): object {
  if (contextWindow === undefined) return { name: displayName }
  return { name: displayName, limit: { context: contextWindow, output: maxOutputTokens ?? contextWindow } }
}
