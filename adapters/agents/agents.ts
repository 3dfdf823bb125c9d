/** `modelhatch/agents`: how coding agents are set up for a gateway. */
import { mistake } from '../../src/records/rules.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { opencode } from './opencode.ts'
import { qwenCode } from './qwen-code.ts'
import { pasteOf } from './paste.ts'
import { placed, type AgentSetupOptions, type Parts } from './options.ts'
import type { AgentSetup } from './setup.ts'

export type { AgentModel, AgentSetupOptions } from './options.ts'
export type { AgentSetup } from './setup.ts'

/** A coding agent: Claude Code, Codex, opencode or Qwen Code. */
export type AgentClient = 'claude-code' | 'codex' | 'opencode' | 'qwen-code'

const clients = new Map<string, (parts: Parts) => Omit<AgentSetup, 'paste'>>([
  ['claude-code', claudeCode],
  ['codex', codex],
  ['opencode', opencode],
  ['qwen-code', qwenCode],
])

/**
 * What a person has to set so that a coding agent uses the gateway. Writes and reads nothing. Throws a `TypeError` that
 * names an invalid option.
 *
 * @example
 * ```ts
 * const { paste, command } = agentSetup({
 *   client: 'codex',
 *   baseURL: 'https://example.com/ai',
 *   apiKey: 'sk-…',
 *   models: ['gpt-5', 'gpt-5-mini'],
 * })
 * ```
 */
export function agentSetup(options: AgentSetupOptions & { readonly client: AgentClient }): AgentSetup {
  const { client, ...rest } = Object(options) as typeof options
  const known = clients.get(client)
  if (known === undefined) throw mistake('client', `must be one of ${[...clients.keys()].join(', ')}`, 'agentSetup')
  const setup = known(placed(rest))
  return { ...setup, paste: pasteOf(setup) }
}
