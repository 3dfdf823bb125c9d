/** Token counts of the AI SDK, with the details that only the vendor's own usage has. */
import { usageOfMessage as anthropicUsage } from '../../../src/wire/message-usage.ts'
import { usageOf as geminiUsage } from '../../../src/providers/content/usage.ts'
import { fieldsOf, isRecord } from '../../../src/wire/json.ts'
import { readTokenUsage } from '../../../src/wire/counts.ts'
import type { Usage } from '../../../src/wire/usage.ts'

/** The token counts: nested objects in newer versions of the SDK, flat fields in older ones. */
export function usageIn(usage: unknown, metadata: unknown): { readonly usage?: Usage } {
  if (!isRecord(usage)) return {}
  const { inputTokens: input, outputTokens: output, raw } = usage
  const [prompt, completion] = [countIn(input, 'total'), countIn(output, 'total')]
  if (prompt === undefined || completion === undefined) return {}
  const detailed = isRecord(raw) ? vendorUsage(raw) : undefined
  // The vendor's counts are in a form that is not known here if their sums differ.
  const agrees = detailed?.prompt_tokens === prompt && detailed.completion_tokens === completion
  const counted = agrees ? detailed : standardUsage(prompt, completion, usage)
  const tier = counted.service_tier ?? tierIn(metadata)
  return { usage: tier === undefined ? counted : { ...counted, service_tier: tier } }
}

function standardUsage(prompt: number, completion: number, usage: Record<string, unknown>): Usage {
  const { inputTokens: input, outputTokens: output } = usage
  const cached = countIn(isRecord(input) ? input : usage['cachedInputTokens'], 'cacheRead') ?? 0
  const written = countIn(fieldsOf(input), 'cacheWrite') ?? 0
  const reasoning = countIn(isRecord(output) ? output : usage['reasoningTokens'], 'reasoning') ?? 0
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

/** The usage as the vendor's API returned it, in one of three forms. */
function vendorUsage(raw: Record<string, unknown>): Usage | undefined {
  if ('promptTokenCount' in raw) return geminiUsage(raw)
  if ('cache_creation_input_tokens' in raw || 'cache_read_input_tokens' in raw) return anthropicUsage(raw)
  return readTokenUsage(raw)
}

function tierIn(metadata: unknown): string | undefined {
  const named = Object.values(fieldsOf(metadata)).map((vendor) => fieldsOf(vendor)['serviceTier'])
  return named.find((tier) => typeof tier === 'string')
}

/** A count, or that of this name in an object. */
function countIn(counts: unknown, name: string): number | undefined {
  const value = isRecord(counts) ? counts[name] : counts
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
