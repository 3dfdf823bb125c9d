/** Token counts of the Messages API in OpenAI's shape. Source: Anthropic's API reference, Usage. */
import type { MessageUsage } from './messages.ts'
import type { Usage } from './usage.ts'
import { countOf, countOrNone, type Fields, fieldsOf, isRecord } from './json.ts'

/** The totals after an event of a stream: each count replaces the earlier one. */
export function withTotals(usage: MessageUsage, later: MessageUsage | null | undefined): MessageUsage {
  const totals: Record<string, unknown> = { ...usage }
  for (const [name, value] of Object.entries(later ?? {})) if (value !== null) totals[name] = value
  return totals
}

/**
 * Undefined without counts of the input and the output. Anthropic counts cached tokens separately from `input_tokens`; OpenAI counts them as
 * part of the prompt. A compaction of the context is billed in addition to the totals, which do not include it.
 */
export function usageOfMessage(raw: Fields): Usage | undefined {
  const { iterations, input_tokens: input, output_tokens: output } = raw
  if (countOf(input) === undefined || countOf(output) === undefined) return undefined
  const compactions = Array.isArray(iterations) ? iterations.filter(isCompaction) : []
  const parts = [raw, ...compactions]
  const sum = (read: (part: Fields) => number) => parts.reduce((total, part) => total + read(part), 0)
  const cached = sum((part) => countOrNone(part['cache_read_input_tokens']))
  const written = sum(writtenIn)
  const written1h = sum((part) => countOrNone(fieldsOf(part['cache_creation'])['ephemeral_1h_input_tokens']))
  const prompt = sum((part) => countOrNone(part['input_tokens'])) + cached + written
  const completion = sum((part) => countOrNone(part['output_tokens']))
  if (Number.isNaN(prompt + completion)) return undefined
  const reasoning = countOf(fieldsOf(raw['output_tokens_details'])['thinking_tokens']) ?? 0
  const tools = Object.entries(fieldsOf(raw['server_tool_use'])).flatMap(([name, calls]) => {
    const made = countOf(calls)
    return made ? [[name, made] as const] : []
  })
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      ...(written1h > 0 && { cache_write_1h_tokens: written1h }),
    },
    completion_tokens_details: { reasoning_tokens: reasoning },
    ...tierOf(raw),
    ...(tools.length > 0 && { server_tool_use: Object.fromEntries(tools) }),
  }
}

/**
 * The service tier as prices name it, if the vendor reports it. A fast model, and one that runs only in the United States,
 * cost more, also both together: `fast+us`.
 */
function tierOf({ service_tier: tier, speed, inference_geo: place }: Fields): Pick<Usage, 'service_tier'> {
  const special = [
    ...(typeof tier === 'string' && tier !== 'standard' ? [tier] : []),
    ...(speed === 'fast' ? [speed] : []),
    ...(place === 'us' ? [place] : []),
  ]
  if (special.length > 0) return { service_tier: special.join('+') }
  return typeof tier === 'string' ? { service_tier: 'default' } : {}
}

/** The tokens written to a cache. Some events of a stream have only one of the two forms. */
function writtenIn(part: Fields): number {
  const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = fieldsOf(part['cache_creation'])
  return Math.max(countOrNone(part['cache_creation_input_tokens']), countOrNone(short) + countOrNone(long))
}

function isCompaction(value: unknown): value is Fields {
  return isRecord(value) && value['type'] === 'compaction'
}
