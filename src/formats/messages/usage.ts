import type { MessageUsage } from '../../wire/messages.ts'
import type { Usage } from '../../wire/usage.ts'

/** Usage in the names of messages. Unlike in chats, what a cache has read or written does not count as input. */
export function messageUsage(usage: Usage): MessageUsage {
  const { prompt_tokens_details: details, completion_tokens_details: made, server_tool_use: tools } = usage
  const read = details?.cached_tokens ?? 0
  const written = details?.cache_write_tokens ?? 0
  const long = Math.min(details?.cache_write_1h_tokens ?? 0, written)
  return {
    input_tokens: Math.max(0, usage.prompt_tokens - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: written - long, ephemeral_1h_input_tokens: long },
    output_tokens: usage.completion_tokens,
    ...(made?.reasoning_tokens !== undefined && { output_tokens_details: { thinking_tokens: made.reasoning_tokens } }),
    ...(tools && { server_tool_use: tools }),
  }
}
