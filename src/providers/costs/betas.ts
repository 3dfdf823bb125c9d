/** Beta features of Anthropic's API, enabled by the header `anthropic-beta`. */
import { undated } from '../undated.ts'

/** The name by which a host allows prompts beyond 200,000 tokens, which some models charge more for. */
export const longContext = 'context-1m'

/** Features that change nothing by themselves; the tools that they concern are checked where they are defined. */
const harmless = [
  'interleaved-thinking dev-full-thinking adaptive-thinking redact-thinking thinking-token-count thinking-display-updates',
  'thinking-binding-controls effort task-budgets output-128k output-300k structured-outputs',
  'context-management context-hint compact mid-conversation-output-config mid-conversation-system',
  'mid-conversation-system-clear-at mid-conversation-tool-changes inline-tools model-context-window-exceeded',
  'computer-use token-efficient-tools fine-grained-tool-streaming advanced-tool-use tool-search-tool tool-examples',
  'prompt-caching prompt-caching-scope extended-cache-ttl cache-diagnosis pdfs token-counting message-batches',
  // Sent by Claude Code with every request.
  'claude-code oauth afk-mode summarize-connector-text',
]

/** Features that cost, or that reach the host's account, by the name that allows them: the field or the tool that needs them. */
const guarded: Readonly<Record<string, string>> = {
  [longContext]: longContext,
  speed: 'fast-mode',
  fallbacks: 'server-side-fallback fallback-credit',
  mcp_servers: 'mcp-client mcp-tunnels',
  container: 'skills',
  code_execution: 'code-execution',
  web_fetch: 'web-fetch',
  web_search: 'web-search',
  advisor: 'advisor-tool',
  files: 'files-api',
  thread: 'message-threads',
}

/** Features of other endpoints, which concern the host's account. Like unknown ones, each needs its own name. */
const foreign = [
  'user-profiles user-profiles-billing managed-agents dreaming agent-memory experimental-claude-tag ce-plugins',
  'ce-user-management ce-claude-code-managed-settings admin-user-sign-out spend-limit-reads analytics-usage-cost',
  'telemetry-destinations webhooks',
]

/** What a host allows a feature by, by its name without its date; undefined if it passes. */
export const betas: ReadonlyMap<string, string | undefined> = new Map<string, string | undefined>([
  ...harmless.flatMap((names) => names.split(' ').map((name) => [name, undefined] as const)),
  ...foreign.flatMap((names) => names.split(' ').map((name) => [name, name] as const)),
  ...Object.entries(guarded).flatMap(([allow, names]) => names.split(' ').map((name) => [name, allow] as const)),
])

/** A feature without the date of its version. */
export function betaName(feature: string): string {
  return undated(feature.toLowerCase())
}
