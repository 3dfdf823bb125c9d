/** Ranks by common words: the share of the query's words that a document has. */
import type { RerankAnswer, RerankRequest } from '../../wire/rerank.ts'
import { usageOf } from '../../wire/usage.ts'
import { countTokens } from './tokens.ts'

export function rerank({ query, documents }: RerankRequest): RerankAnswer {
  const asked = wordsIn(query)
  let tokens = 0
  const results = documents.map((document, index) => {
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    tokens += countTokens(query) + countTokens(text)
    const words = wordsIn(text)
    const common = [...asked].filter((word) => words.has(word)).length
    return { index, relevance_score: common / Math.max(1, asked.size) }
  })
  return { results, usage: usageOf(tokens, 0) }
}

export function wordsIn(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
}
