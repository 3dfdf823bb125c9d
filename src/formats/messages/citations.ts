/** Citations of the Messages wire. */
import { isRecord } from '../../wire/json.ts'
import type { Citation, Fields } from '../../conversation/conversation.ts'

/** The citations of a text; undefined if there are none. */
export function readCitations(raw: unknown): readonly Citation[] | undefined {
  if (!Array.isArray(raw)) return undefined
  const citations = raw.map(readCitation).filter((each) => each !== undefined)
  return citations.length === 0 ? undefined : citations
}

export function readCitation(raw: unknown): Citation | undefined {
  if (!isRecord(raw)) return undefined
  const { url, source, title, document_title: document, cited_text: quote } = raw
  const citation: { -readonly [Name in keyof Citation]: Citation[Name] } = { own: { messages: raw } }
  const link = typeof url === 'string' ? url : source
  if (typeof link === 'string') citation.url = link
  const name = typeof title === 'string' ? title : document
  if (typeof name === 'string') citation.title = name
  if (typeof quote === 'string' && quote !== '') citation.quote = quote
  return citation
}

/** A citation of this wire as it is, and that of another as the result of a search, which no vendor can read. */
export function writeCitation({ url, title, quote, own }: Citation): Fields | undefined {
  if (own?.messages !== undefined) return own.messages
  if (url === undefined) return undefined
  return {
    type: 'web_search_result_location',
    url,
    title: title ?? null,
    cited_text: quote ?? '',
    encrypted_index: '',
  }
}

export function writeCitations(citations: readonly Citation[] | undefined, forClient: boolean): readonly Fields[] {
  return (citations ?? [])
    .map(writeCitation)
    .filter((each) => each !== undefined)
    .filter((each) => forClient || each['encrypted_index'] !== '')
}
