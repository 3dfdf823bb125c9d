import type { AgentSetup } from './setup.ts'
import { keyVariable, type Parts } from './options.ts'

export function codex({ baseURL, apiKey, models: [first], name, webSockets }: Parts): Omit<AgentSetup, 'paste'> {
  const lines = [
    `model = ${quoted(first.id)}`,
    `model_provider = ${quoted(name)}`,
    ...(first.contextWindow === undefined ? [] : [`model_context_window = ${first.contextWindow}`]),
    '',
    `[model_providers.${name}]`,
    `name = ${quoted(name)}`,
    `base_url = ${quoted(`${baseURL}/v1`)}`,
    `env_key = ${quoted(keyVariable(name))}`,
    'wire_api = "responses"',
    `supports_websockets = ${webSockets}`,
  ]
  return {
    environment: { [keyVariable(name)]: apiKey },
    file: { path: `.codex/${name}.config.toml`, text: `${lines.join('\n')}\n` },
    command: `codex --profile ${name}`,
  }
}

/** A basic string of TOML. */
function quoted(text: string): string {
  return JSON.stringify(text)
}
