/** Rankings in the forms of vendors: Cohere's, Jina's, Voyage's and TEI's. */
import { countOf, isRecord } from '../wire/json.ts'
import { readTokenUsage } from '../wire/counts.ts'
import type { RerankAnswer, RerankResult } from '../wire/rerank.ts'
import { usageOf, type Usage } from '../wire/usage.ts'
import { unreadable } from './failure.ts'

/** Reads a ranking. Throws if there is none. */
export function rankingIn(value: unknown): RerankAnswer {
  const { results, data = results, usage, meta } = Object(value) as Readonly<Record<string, unknown>>
  const list = Array.isArray(value) ? (value as readonly unknown[]) : data
  if (!Array.isArray(list)) throw unreadable("the vendor's response has no ranking")
  const { billed_units: units = {} } = Object(meta) as Readonly<Record<string, unknown>>
  const searches = countOf(Object(units)['search_units'] ?? Object(usage)['search_units'])
  return {
    results: list.map(resultOf),
    usage: usageIn(usage),
    ...(searches && { searches }),
  }
}

function resultOf(value: unknown): RerankResult {
  const { index, relevance_score: relevance, score = relevance } = Object(value) as Readonly<Record<string, unknown>>
  return { index: index as number, relevance_score: score as number }
}

/** Most vendors report the total alone, and all of it is input. */
function usageIn(raw: unknown): Usage | undefined {
  if (!isRecord(raw)) return undefined
  const total = countOf(raw['total_tokens'])
  return readTokenUsage(raw, 0) ?? (total ? usageOf(total, 0) : undefined)
}
