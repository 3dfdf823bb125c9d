/** Citations of the Messages wire. */
import { isRecord, itemsOf, stringOf } from '../../wire/json.ts'
import type { Citation, Fields } from '../../conversation/conversation.ts'

/** The citations of a text; undefined if there are none. */
export function readCitations(raw: unknown): readonly Citation[] | undefined {
  const citations = itemsOf(raw).flatMap((each) => readCitation(each) ?? [])
  return citations.length === 0 ? undefined : citations
}

export function readCitation(raw: unknown): Citation | undefined {
  if (!isRecord(raw)) return undefined
  const { url, source, title, document_title: document, cited_text: quote } = raw
  return {
    url: stringOf(url) ?? stringOf(source),
    title: stringOf(title) ?? stringOf(document),
    quote: stringOf(quote) || undefined,
    own: { messages: raw },
  }
}

/** A citation of this wire as it is, and that of another as the result of a search, which no vendor can read. */
export function writeCitation({ url, title, quote, own }: Citation): Fields | undefined {
  if (own?.messages !== undefined) return own.messages
  if (url === undefined) return undefined
  const cited = { url, title: title ?? null, cited_text: quote ?? '', encrypted_index: '' }
  return { type: 'web_search_result_location', ...cited }
}

export function writeCitations(citations: readonly Citation[] | undefined, forClient: boolean): readonly Fields[] {
  const written = (citations ?? []).map(writeCitation).filter((each) => each !== undefined)
  return forClient ? written : written.filter((each) => each['encrypted_index'] !== '')
}
