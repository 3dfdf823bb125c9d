/** `modelhatch/agents`: how coding agents are set up for a gateway. */
import { mistake } from '../../src/records/rules.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { geminiCli } from './gemini-cli.ts'
import { opencode } from './opencode.ts'
import { qwenCode } from './qwen-code.ts'
import { pasteOf } from './paste.ts'
import { placed, type AgentSetupOptions, type Parts } from './options.ts'
import type { AgentSetup } from './setup.ts'

export type { AgentModel, AgentSetupOptions } from './options.ts'
export type { AgentSetup } from './setup.ts'

/** A coding agent: Claude Code, Codex, GitHub Copilot CLI, Gemini CLI, opencode or Qwen Code. */
export type AgentClient = 'claude-code' | 'codex' | 'copilot' | 'gemini-cli' | 'opencode' | 'qwen-code'

interface Agent {
  readonly name: string
  readonly setup: (parts: Parts) => Omit<AgentSetup, 'paste'>
}

const clients: Readonly<Record<AgentClient, Agent>> = {
  'claude-code': { name: 'Claude Code', setup: claudeCode },
  codex: { name: 'Codex', setup: codex },
  copilot: { name: 'GitHub Copilot CLI', setup: copilot },
  'gemini-cli': { name: 'Gemini CLI', setup: geminiCli },
  opencode: { name: 'opencode', setup: opencode },
  'qwen-code': { name: 'Qwen Code', setup: qwenCode },
}

/** The agents that `agentSetup` knows, each with its name for people. */
export const agentClients: readonly {
  /** What `agentSetup` calls it. */
  readonly client: AgentClient
  /** What people call it, such as `Claude Code`. */
  readonly name: string
}[] = Object.entries(clients).map(([client, { name }]) => ({ client: client as AgentClient, name }))

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
  if (!Object.hasOwn(clients, client)) {
    throw mistake('client', `must be one of ${Object.keys(clients).join(', ')}`, 'agentSetup')
  }
  const setup = clients[client].setup(placed(rest))
  return { ...setup, paste: pasteOf(setup) }
}
