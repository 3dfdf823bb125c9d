/** Beta features of Anthropic's API, enabled by the header `anthropic-beta`, that change what the host pays. */

/** The name by which a host allows prompts beyond 200,000 tokens, which some models charge more for. */
export const longContext = 'context-1m'

/**
 * The begin of each feature's name, and what a host allows it by: the field or the tool that needs it. All others pass: they
 * change nothing by themselves. Source: the beta headers in Anthropic's API reference.
 */
export const guardedBetas: readonly (readonly [feature: string, allow: string])[] = [
  ['context-1m', longContext],
  ['fast-mode', 'speed'],
  ['server-side-fallback', 'fallbacks'],
  ['fallback-credit', 'fallbacks'],
  ['mcp-client', 'mcp_servers'],
  ['skills', 'container'],
  ['code-execution', 'code_execution'],
  ['web-fetch', 'web_fetch'],
  ['web-search', 'web_search'],
  ['advisor', 'advisor'],
  // Files in the host's workspace, which callers must not reach by their ids.
  ['files-api', 'files'],
]
