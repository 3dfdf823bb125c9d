/** Conversion between the token counts of responses and those of chats. */
import type { ResponseUsage } from '../../wire/responses.ts'
import type { Usage } from '../../wire/usage.ts'

/** Usage in the names of responses. */
export function responseUsage(usage: Usage): ResponseUsage {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: {
      cached_tokens: prompt?.cached_tokens ?? 0,
      cache_write_tokens: prompt?.cache_write_tokens ?? 0,
    },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { reasoning_tokens: completion?.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens,
  }
}

/** A vendor's usage in the names of chats; undefined if it is missing or malformed. */
export function chatUsage(raw: unknown): Usage | undefined {
  const { input_tokens: input, output_tokens: output, ...details } = Object(raw) as Record<string, unknown>
  if (!isCount(input) || !isCount(output)) return undefined
  const { cached_tokens: cached, cache_write_tokens: written } = Object(details['input_tokens_details']) as Counts
  const { reasoning_tokens: reasoning } = Object(details['output_tokens_details']) as Counts
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      ...(isCount(cached) && { cached_tokens: cached }),
      ...(isCount(written) && { cache_write_tokens: written }),
    },
    completion_tokens_details: { ...(isCount(reasoning) && { reasoning_tokens: reasoning }) },
  }
}

type Counts = Record<string, unknown>

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
