/** Conversion between the token counts of responses and those of chats. */
import { readTokenUsage } from './counts.ts'
import { countOf, entryIn, fieldsOf, isRecord } from './json.ts'
import type { OutputItem, ResponseUsage } from './responses.ts'
import type { Usage } from './usage.ts'

/** Usage in the names of responses. */
export function responseUsage(usage: Usage): ResponseUsage {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion, server_tool_use: tools } = usage
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: {
      ...prompt,
      cached_tokens: prompt?.cached_tokens ?? 0,
      cache_write_tokens: prompt?.cache_write_tokens ?? 0,
    },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { ...completion, reasoning_tokens: completion?.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens,
    ...(tools && { server_tool_use: tools }),
  }
}

/**
 * A vendor's usage in the names of chats; undefined if it is missing or malformed. `output`: the items of the response,
 * among which are the calls of the vendor's own tools.
 */
export function chatUsage(raw: unknown, output: readonly OutputItem[] = []): Usage | undefined {
  const { input_tokens: given, output_tokens: written } = fieldsOf(raw)
  const [input, made] = [countOf(given), countOf(written)]
  if (input === undefined || made === undefined) return undefined
  const usage = readTokenUsage({ ...(raw as object), total_tokens: input + made })
  const calls = toolCallsIn(output)
  if (usage === undefined || calls === undefined) return usage
  return { ...usage, server_tool_use: { ...calls, ...usage.server_tool_use } }
}

/** The items that are charged by the call. */
const charged: Readonly<Record<string, string>> = {
  web_search_call: 'web_search_requests',
  file_search_call: 'file_search_requests',
  image_generation_call: 'image_generation_requests',
  mcp_call: 'mcp_requests',
}

function toolCallsIn(output: readonly OutputItem[]): Record<string, number> | undefined {
  let calls: Record<string, number> | undefined
  const containers = new Set<unknown>()
  for (const item of output) {
    if (!isRecord(item)) continue
    if (item.type === 'code_interpreter_call') containers.add(item['container_id'] ?? item.id)
    const name = entryIn(charged, item.type)
    // Opening a page that a search has found is not charged.
    if (name === undefined || fieldsOf(item['action'])['type'] === 'open_page') continue
    calls ??= {}
    calls[name] = (calls[name] ?? 0) + 1
  }
  // The session of a container is charged, not each call.
  return containers.size === 0 ? calls : { ...calls, code_interpreter_requests: containers.size }
}
