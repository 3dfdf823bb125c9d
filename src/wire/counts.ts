import type { Usage } from './usage.ts'

type Counts = Record<string, unknown>

/**
 * Normalises a vendor's usage object so that prompt + completion = total; undefined if it has no counts. Some vendors
 * include hidden reasoning only in `total_tokens`; cached tokens have four names. Returns the same object if nothing
 * had to change.
 */
export function readUsage(raw: unknown): Usage | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined
  const counts = raw as Counts
  const prompt = tokens(counts['prompt_tokens']) ?? tokens(counts['input_tokens'])
  if (prompt === undefined) return undefined
  const stated = tokens(counts['completion_tokens']) ?? tokens(counts['output_tokens']) ?? 0
  const total = tokens(counts['total_tokens']) ?? prompt + stated
  const completion = Math.max(stated, total - prompt)
  const details = detailsOf(counts['prompt_tokens_details'])
  const cached =
    tokens(details?.['cached_tokens']) ??
    tokens(counts['cached_tokens']) ??
    tokens(counts['num_cached_tokens']) ??
    tokens(counts['prompt_cache_hit_tokens'])
  const unchanged =
    prompt === counts['prompt_tokens'] &&
    completion === counts['completion_tokens'] &&
    prompt + completion === counts['total_tokens'] &&
    (cached === undefined || cached === details?.['cached_tokens'])
  if (unchanged) return raw as Usage
  return {
    ...counts,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached !== undefined && { prompt_tokens_details: { ...details, cached_tokens: cached } }),
  }
}

/** Normalises a usage object with the field names of images, transcriptions and responses, or with those of chats. */
export function readTokenUsage(raw: unknown): Usage | undefined {
  const {
    prompt_tokens: prompt,
    completion_tokens: completion,
    input_tokens: input = prompt,
    output_tokens: output = completion,
    total_tokens: total,
    input_tokens_details: details,
  } = Object(raw) as Counts
  return readUsage({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total,
    ...(detailsOf(details) && { prompt_tokens_details: details }),
  })
}

function tokens(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
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

/** The sum of two usage objects, including their details. */
export function sumOfUsage(left: Usage, right: Usage): Usage {
  return sumOf(left, right) as unknown as Usage
}

function sumOf(left: object, right: object): Counts {
  const sum: Counts = { ...left }
  for (const [name, value] of Object.entries(right)) {
    if (typeof value === 'number') sum[name] = value + (tokens(sum[name]) ?? 0)
    else if (typeof value === 'object' && value !== null) sum[name] = sumOf(detailsOf(sum[name]) ?? {}, value)
  }
  return sum
}
