/** Reranking. Sources of the fields: the API references of Cohere and Jina. */
import * as z from 'zod'
import { refusedValue, invalid } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { billed, unreadable } from '../../providers/failure.ts'
import type { Provider, Call } from '../../providers/contract.ts'
import { estimateTokens } from '../../wire/counts.ts'
import type { RerankAnswer, RerankRequest, RerankResult } from '../../wire/rerank.ts'
import { usageOf } from '../../wire/usage.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { replace } from '../order.ts'
import { isRecord } from '../../wire/json.ts'
import { jsonReader, type ReadOrder } from '../json-reader.ts'
import { lazy } from '../../records/lazy.ts'

/** Documents of one request. Source: Cohere's limit. */
const maxDocuments = 10_000

const schema = lazy(() =>
  z.looseObject({
    model: z.string().min(1),
    query: z.string().min(1),
    top_n: z.int().min(1).nullish(),
    return_documents: z.boolean().nullish(),
    rank_fields: z.array(z.string()).min(1).nullish(),
  }),
)

/** Reads and validates a rerank request. */
const readRerank: ReadOrder<RerankRequest> = jsonReader(schema, {
  stream: false,
  more: (body) => void textsOf(body.get('documents'), body.get('rank_fields')),
})

/** The texts that are compared. Throws 400 for what has no text. */
function textsOf(documents: unknown, rankFields?: unknown): readonly string[] {
  if (documents === undefined || documents === null)
    throw invalid('Missing required parameter: "documents".', 'documents')
  if (!Array.isArray(documents) || documents.length === 0)
    throw invalid('"documents" must be a list of at least one text.', 'documents')
  if (documents.length > maxDocuments) throw invalid(`"documents" may have at most ${maxDocuments} items.`, 'documents')
  const fields = Array.isArray(rankFields) ? (rankFields as readonly string[]) : undefined
  return documents.map((document: unknown, index) => {
    const text = typeof document === 'string' ? document : isRecord(document) ? textIn(document, fields) : undefined
    if (text !== undefined) return text
    throw invalid(`"documents[${index}]" must be a text, or an object with "text".`, `documents[${index}]`)
  })
}

/** Fields are compared as Cohere compares them: each on a line, after its name. */
function textIn(
  document: Readonly<Record<string, unknown>>,
  fields: readonly string[] | undefined,
): string | undefined {
  const { text } = document
  if (fields === undefined) return typeof text === 'string' ? text : undefined
  const lines = fields
    .filter((name) => document[name] !== undefined)
    .map((name) => `${name}: ${wordsOf(document[name])}`)
  return lines.length === 0 ? undefined : lines.join('\n')
}

function wordsOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `POST /v1/rerank`, and where the newer clients of Cohere send it. */
export const rerank: CallEndpoint<RerankRequest, RerankAnswer> = defineEndpoint({
  method: 'POST',
  path: ['/v1/rerank', '/v2/rerank'],
  name: 'rerank',
  makes: 'ranking',
  units: ({ field }) => ({
    own: { search: searchesFor(field('query'), textsOf(field('documents'), field('rank_fields'))) },
  }),
  read: readRerank,
  texts: ['query', 'documents'],
  async ask(provider, call, { meter, order }) {
    const { query, documents, rank_fields: fields } = call.request
    const texts = textsOf(documents, fields)
    const answer = await ranked(provider, call, texts)
    const { usage, searches = searchesFor(query, texts) } = answer
    const results = resultsOf(answer, texts.length, call.request.top_n ?? texts.length)
    meter.usage = usage
    meter.estimate = usageOf(order.promptTokens, 0)
    meter.units = { own: { search: searches } }
    const checked: RerankAnswer = { results, usage, searches }
    return checked
  },
  whole({ results, usage, searches = 0 }, { id, order, meter }) {
    const documents = order.field('documents') as RerankRequest['documents']
    const shown = (index: number) => {
      const document = documents[index]
      return typeof document === 'string' ? { text: document } : document
    }
    const tokens = (usage ?? meter.estimate)?.total_tokens
    return jsonReply({
      id: id.replace('req_', 'rerank-'),
      model: order.model,
      results:
        order.field('return_documents') === true
          ? results.map((result) => ({ ...result, document: shown(result.index) }))
          : results,
      usage: { prompt_tokens: tokens, total_tokens: tokens, search_units: searches },
      // Cohere's place for it.
      meta: { api_version: { version: '2' }, billed_units: { search_units: searches } },
    })
  },
})

async function ranked(
  provider: Provider,
  call: Call<RerankRequest>,
  documents: readonly string[],
): Promise<RerankAnswer> {
  const { return_documents: _, rank_fields: __, ...rest } = call.request
  const answer = provider.rerank?.(replace<RerankRequest>(call, { ...rest, documents }))
  if (answer !== undefined) return answer
  throw refusedValue('This model cannot rerank documents.', 'model')
}

/** The best results, the best first. Throws unless the vendor has ranked as many documents as it was asked for. */
function resultsOf({ results, usage }: RerankAnswer, count: number, most: number): readonly RerankResult[] {
  const seen = new Set<number>()
  const isResult = ({ index, relevance_score: score }: RerankResult) =>
    Number.isInteger(index) && index >= 0 && index < count && Number.isFinite(score) && seen.size < seen.add(index).size
  const wanted = Math.min(count, most)
  if (
    !Array.isArray(results) ||
    results.length < wanted ||
    !results.every((each) => isResult(Object(each) as RerankResult))
  )
    throw billed(unreadable('the provider returned a malformed ranking'), usage)
  return results
    .map(({ index, relevance_score: score }) => ({ index, relevance_score: score }))
    .sort((left, right) => right.relevance_score - left.relevance_score)
    .slice(0, wanted)
}

/** A search compares a query with up to 100 documents; one longer than 500 tokens with its query counts as several. Source: Cohere. */
function searchesFor(query: unknown, documents: readonly string[]): number {
  const asked = Buffer.byteLength(String(query))
  let chunks = 0
  for (const document of documents)
    chunks += Math.max(1, Math.ceil(estimateTokens(asked + Buffer.byteLength(document)) / 500))
  return Math.ceil(chunks / 100)
}
