/** Citations as the annotations of a chat's message. */
import { isRecord, itemsOf, numberOf, stringOf } from '../../wire/json.ts'
import type { Citation, Fields } from '../../conversation/conversation.ts'

/** A citation with a URL, or one that only a chat can say; undefined for what is no annotation. */
export function readAnnotation(raw: unknown): Citation | undefined {
  if (!isRecord(raw)) return undefined
  const { type, url_citation: cited } = raw
  if (type !== 'url_citation' || !isRecord(cited)) return { own: { chat: raw } }
  const { url, title, start_index: start, end_index: end, content, ...rest } = cited
  const range = rangeOf(start, end)
  const isPlain = [url, title].every((each) => typeof each === 'string') && range !== undefined
  const isWhole = isPlain && Object.keys(rest).length === 0 && Object.keys(raw).length === 2
  return {
    url: stringOf(url),
    title: stringOf(title),
    quote: stringOf(content) || undefined,
    range,
    own: isWhole ? undefined : { chat: raw },
  }
}

/** Undefined if one of the two is no number. */
export function rangeOf(first: unknown, last: unknown): Citation['range'] {
  const [start, end] = [numberOf(first), numberOf(last)]
  return start === undefined || end === undefined ? undefined : { start, end }
}

/** Perplexity's sources of a whole answer, which it names beside the choices. */
export function readSearch({ search_results: results, citations }: Fields): readonly Citation[] {
  const named = itemsOf(results).flatMap((each): Citation[] => {
    if (!isRecord(each) || typeof each['url'] !== 'string') return []
    const { url, title, snippet } = each
    return [{ url, title: stringOf(title) || undefined, quote: stringOf(snippet) || undefined }]
  })
  if (named.length > 0) return named
  return itemsOf(citations).flatMap((url) => (typeof url === 'string' ? [{ url }] : []))
}

/** A text, or what is known of one. */
export interface Cited {
  readonly length: number
  readonly citations?: readonly Citation[] | undefined
}

/** The annotations of a message with these blocks. A citation without a range is of its whole block. */
export function annotationsOf(blocks: Iterable<Cited>): readonly Fields[] {
  const annotations: Fields[] = []
  let at = 0
  for (const { length, citations = [] } of blocks) {
    for (const citation of citations) {
      const annotation = writeAnnotation(citation, at, length)
      if (annotation !== undefined) annotations.push(annotation)
    }
    at += length
  }
  return annotations
}

/** `at`: where the block begins in the text of the message; `length`: of the block. */
function writeAnnotation(
  { url, title = '', quote, range, own }: Citation,
  at: number,
  length: number,
): Fields | undefined {
  if (own?.chat !== undefined) return own.chat
  if (url === undefined) return undefined
  const { start, end } = range ?? { start: 0, end: length }
  const cited = { url, title, start_index: at + start, end_index: at + end, content: quote }
  return { type: 'url_citation', url_citation: cited }
}
