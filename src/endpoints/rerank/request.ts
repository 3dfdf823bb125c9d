/** Validation of rerank requests. Sources of the fields: the API references of Cohere and Jina. */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import { isRecord } from '../../wire/json.ts'
import type { RerankRequest } from '../../wire/rerank.ts'
import { jsonReader, type ReadOrder } from '../json-reader.ts'

/** Documents of one request. Source: Cohere's limit. */
const maxDocuments = 10_000

const schema = z.looseObject({
  model: z.string().min(1),
  query: z.string().min(1),
  top_n: z.int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
  rank_fields: z.array(z.string()).min(1).nullish(),
})

/** Reads and validates a rerank request. */
export const readRerank: ReadOrder<RerankRequest> = jsonReader(schema, {
  stream: false,
  more: (body) => void textsOf(body.get('documents'), body.get('rank_fields')),
})

/** The texts that are compared. Throws 400 for what has no text. */
export function textsOf(documents: unknown, rankFields?: unknown): readonly string[] {
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
    .map((name) => `${name}: ${String(document[name])}`)
  return lines.length === 0 ? undefined : lines.join('\n')
}
