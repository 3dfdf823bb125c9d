import { countOf } from './json.ts'
import { withoutCosts } from './own-costs.ts'
import type { TokenUsage, Usage } from './usage.ts'

type Counts = Record<string, unknown>

/**
 * Normalises a vendor's usage object so that prompt + completion = total; undefined if it does not have both counts. Some vendors
 * include hidden reasoning only in `total_tokens`; cached tokens and calls of tools have several names. What it costs the
 * host is left out. Returns the same object if nothing had to change. `unsaid`: the output if neither it nor the total is reported.
 */
export function readUsage(raw: unknown, unsaid?: number): Usage | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined
  const counts = withoutCosts(raw as Counts)
  const prompt = countOf(counts['prompt_tokens']) ?? countOf(counts['input_tokens'])
  if (prompt === undefined) return undefined
  const total = countOf(counts['total_tokens'])
  const given = counts['completion_tokens'] ?? counts['output_tokens'] ?? (total === undefined ? unsaid : 0)
  const stated = countOf(given)
  if (stated === undefined) return undefined
  const completion = Math.max(stated, (total ?? 0) - prompt)
  const promptDetails = detailsOf(counts['prompt_tokens_details'])
  const details = cacheDetails(counts, promptDetails)
  const tools = toolCalls(counts)
  const unchanged =
    prompt === counts['prompt_tokens'] &&
    completion === counts['completion_tokens'] &&
    prompt + completion === counts['total_tokens'] &&
    details === promptDetails &&
    tools === (counts['server_tool_use'] ?? undefined)
  if (unchanged) return counts as unknown as Usage
  return {
    ...counts,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(details !== undefined && { prompt_tokens_details: details }),
    ...(tools !== undefined && { server_tool_use: tools as Record<string, number> }),
  }
}

/** The details of the prompt with OpenAI's names for tokens of a cache; the same object if they have them already. */
function cacheDetails(counts: Counts, details: Counts | undefined): Counts | undefined {
  const cached =
    countOf(details?.['cached_tokens']) ??
    countOf(counts['cached_tokens']) ??
    countOf(counts['num_cached_tokens']) ??
    countOf(counts['prompt_cache_hit_tokens'])
  // Proxies in front of Claude, and Alibaba.
  const creation = detailsOf(
    details?.['cache_creation_token_details'] ?? details?.['cache_creation'] ?? counts['cache_creation'],
  )
  const short = countOf(creation?.['ephemeral_5m_input_tokens'])
  const long = countOf(creation?.['ephemeral_1h_input_tokens'])
  const written =
    countOf(details?.['cache_write_tokens']) ??
    countOf(details?.['cache_creation_input_tokens']) ??
    countOf(details?.['cache_creation_tokens']) ??
    countOf(counts['cache_creation_input_tokens']) ??
    (creation && (short ?? 0) + (long ?? 0))
  const written1h = countOf(details?.['cache_write_1h_tokens']) ?? long
  const unchanged =
    cached === (details?.['cached_tokens'] ?? undefined) &&
    written === (details?.['cache_write_tokens'] ?? undefined) &&
    written1h === (details?.['cache_write_1h_tokens'] ?? undefined)
  if (unchanged) return details
  return {
    ...details,
    ...(cached !== undefined && { cached_tokens: cached }),
    ...(written !== undefined && { cache_write_tokens: written }),
    ...(written1h !== undefined && { cache_write_1h_tokens: written1h }),
  }
}

/** Calls of the vendor's own tools. Perplexity counts its searches, and xAI the sources of a search, by names of their own. */
function toolCalls(counts: Counts): unknown {
  const given = counts['server_tool_use'] ?? counts['server_side_tool_usage_details']
  const queries = countOf(counts['num_search_queries'])
  const sources = countOf(counts['num_sources_used'])
  if (!queries && !sources) return given ?? undefined
  return {
    ...(queries && { web_search_requests: queries }),
    ...(sources && { live_search_requests: sources }),
    ...detailsOf(given),
  }
}

/** Normalises a usage object with the field names of images, transcriptions and responses, or with those of chats. */
export function readTokenUsage(raw: unknown, unsaid?: number): Usage | undefined {
  const counts = Object(raw) as Counts
  const {
    prompt_tokens: prompt,
    completion_tokens: completion,
    input_tokens: input = prompt,
    output_tokens: output = completion,
    total_tokens: total,
    prompt_tokens_details: promptDetails,
    completion_tokens_details: completionDetails,
    input_token_details: inputDetails,
    input_tokens_details: details = inputDetails ?? promptDetails,
    output_tokens_details: made = completionDetails,
  } = counts
  return readUsage(
    {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: total,
      ...(detailsOf(details) && { prompt_tokens_details: details }),
      ...(detailsOf(made) && { completion_tokens_details: made }),
    },
    unsaid,
  )
}

/** Usage in OpenAI's names for images and transcriptions. */
export function tokenUsage(usage: Usage): TokenUsage {
  const { prompt_tokens_details: details, completion_tokens_details: made } = usage
  return {
    input_tokens: usage.prompt_tokens,
    output_tokens: usage.completion_tokens,
    total_tokens: usage.total_tokens,
    ...(details && { input_tokens_details: details }),
    ...(made && { output_tokens_details: made }),
  }
}

function detailsOf(value: unknown): Counts | undefined {
  return typeof value === 'object' && value !== null ? (value as Counts) : undefined
}

/** Average bytes of text per token. */
export const bytesPerToken = 4

/** Estimates the tokens of a text of `bytes` bytes. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}

/** The sum of usage objects, including their details; undefined if there are none. */
export function sumOfUsages(all: readonly Usage[]): Usage | undefined {
  const [first, ...others] = all
  return first && others.reduce<Usage>((left, right) => sumOf(left, right) as unknown as Usage, first)
}

function sumOf(left: object, right: object): Counts {
  const sum: Counts = { ...left }
  for (const [name, value] of Object.entries(right)) {
    if (typeof value === 'number') sum[name] = value + (countOf(sum[name]) ?? 0)
    else if (typeof value === 'object' && value !== null) sum[name] = sumOf(detailsOf(sum[name]) ?? {}, value)
  }
  return sum
}
