/** Citations as the annotations of a chat's message. */
import { isRecord } from '../../wire/json.ts'
import type { Block, Citation, Fields } from '../../conversation/conversation.ts'

/** A citation with a URL, or one that only a chat can say; undefined for what is no annotation. */
export function readAnnotation(raw: unknown): Citation | undefined {
  if (!isRecord(raw)) return undefined
  const { type, url_citation: cited } = raw
  if (type !== 'url_citation' || !isRecord(cited)) return { own: { chat: raw } }
  const { url, title, start_index: start, end_index: end, content, ...rest } = cited
  const citation: { -readonly [Name in keyof Citation]: Citation[Name] } = {}
  if (typeof url === 'string') citation.url = url
  if (typeof title === 'string') citation.title = title
  if (typeof content === 'string' && content !== '') citation.quote = content
  if (typeof start === 'number' && typeof end === 'number') citation.range = { start, end }
  const isPlain = citation.url !== undefined && citation.range !== undefined && citation.title !== undefined
  if (!isPlain || Object.keys(rest).length > 0 || Object.keys(raw).length > 2) citation.own = { chat: raw }
  return citation
}

/** Perplexity's sources of a whole answer, which it names beside the choices. */
export function readSearch({ search_results: results, citations: urls }: Fields): readonly Citation[] {
  const found = Array.isArray(results) ? results.filter(isRecord) : []
  const named = found.flatMap(({ url, title, snippet }): Citation[] => {
    if (typeof url !== 'string') return []
    const citation: { -readonly [Name in keyof Citation]: Citation[Name] } = { url }
    if (typeof title === 'string' && title !== '') citation.title = title
    if (typeof snippet === 'string' && snippet !== '') citation.quote = snippet
    return [citation]
  })
  if (named.length > 0 || !Array.isArray(urls)) return named
  return urls.filter((each): each is string => typeof each === 'string').map((url) => ({ url }))
}

/** The annotations of a message with these blocks. A citation without a range is of its whole block. */
export function annotationsOf(blocks: readonly Block[]): readonly Fields[] {
  const annotations: Fields[] = []
  let at = 0
  for (const block of blocks) {
    if (block.kind !== 'text') continue
    for (const citation of block.citations ?? []) {
      const annotation = writeAnnotation(citation, at, block.text.length)
      if (annotation !== undefined) annotations.push(annotation)
    }
    at += block.text.length
  }
  return annotations
}

/** `at`: where the block begins in the text of the message; `length`: of the block. */
export function writeAnnotation(
  { url, title = '', quote, range, own }: Citation,
  at: number,
  length: number,
): Fields | undefined {
  if (own?.chat !== undefined) return own.chat
  if (url === undefined) return undefined
  const { start, end } = range ?? { start: 0, end: length }
  const cited: Record<string, unknown> = { url, title, start_index: at + start, end_index: at + end }
  if (quote !== undefined) cited['content'] = quote
  return { type: 'url_citation', url_citation: cited }
}
