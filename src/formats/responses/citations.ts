/** Citations as the annotations of a text. */
import { isRecord } from '../../wire/json.ts'
import type { Citation, Fields } from '../../conversation/conversation.ts'

const known = new Set(['type', 'url', 'title', 'start_index', 'end_index'])

/** A citation with a URL, or one that only this wire can say; undefined for what is no annotation. */
export function readAnnotation(raw: unknown): Citation | undefined {
  if (!isRecord(raw)) return undefined
  const { type, url, title, filename, start_index: start, end_index: end } = raw
  const citation: { -readonly [Name in keyof Citation]: Citation[Name] } = {}
  if (type === 'url_citation' && typeof url === 'string') citation.url = url
  const name = title ?? filename
  if (typeof name === 'string') citation.title = name
  if (typeof start === 'number' && typeof end === 'number') citation.range = { start, end }
  const isPlain = citation.url !== undefined && citation.range !== undefined && typeof title === 'string'
  if (!isPlain || Object.keys(raw).some((field) => !known.has(field))) citation.own = { responses: raw }
  return citation
}

/** The citations of a part; undefined if there are none. */
export function readAnnotations(raw: unknown): readonly Citation[] | undefined {
  if (!Array.isArray(raw) || raw.length === 0) return undefined
  const citations = raw.map(readAnnotation).filter((each) => each !== undefined)
  return citations.length === 0 ? undefined : citations
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
