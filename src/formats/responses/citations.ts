/** Citations as the annotations of a text. */
import { isRecord, itemsOf, stringOf } from '../../wire/json.ts'
import { rangeOf } from '../chat/citations.ts'
import type { Citation, Fields } from '../../conversation/conversation.ts'

const known = new Set(['type', 'url', 'title', 'start_index', 'end_index'])

/** A citation with a URL, or one that only this wire can say; undefined for what is no annotation. */
export function readAnnotation(raw: unknown): Citation | undefined {
  if (!isRecord(raw)) return undefined
  const { type, url, title, filename, start_index: start, end_index: end } = raw
  const link = type === 'url_citation' ? stringOf(url) : undefined
  const range = rangeOf(start, end)
  const isPlain = link !== undefined && range !== undefined && typeof title === 'string'
  const isWhole = isPlain && Object.keys(raw).every((field) => known.has(field))
  const name = stringOf(title ?? filename)
  return { url: link, title: name, range, own: isWhole ? undefined : { responses: raw } }
}

/** The citations of a part; undefined if there are none. */
export function readAnnotations(raw: unknown): readonly Citation[] | undefined {
  const citations = itemsOf(raw).flatMap((each) => readAnnotation(each) ?? [])
  return citations.length === 0 ? undefined : citations
}

/** `at`: where the block begins in its part. */
export function annotationsOf(citations: readonly Citation[] | undefined, at: number, length: number): Fields[] {
  return (citations ?? []).map((each) => annotationOf(each, at, length)).filter((each) => each !== undefined)
}

/** `at`: where the block begins in its part, and `length`: of its text, which a citation without a range is of. */
export function annotationOf(
  { url, title = '', range, own }: Citation,
  at: number,
  length: number,
): Fields | undefined {
  if (own?.responses !== undefined) return own.responses
  if (url === undefined) return undefined
  const { start, end } = range ?? { start: 0, end: length }
  return { type: 'url_citation', start_index: at + start, end_index: at + end, url, title }
}
