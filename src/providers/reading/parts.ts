/** Reads and validates the parts of a message's content. For large requests, nothing has validated them before. */
import { invalid } from '../../errors.ts'
import { plainBase64, readDataUrl, type InlineData } from '../data-url.ts'
import { isRecord } from '../../wire/json.ts'

export type Part = TextPart | MediaPart

export interface TextPart {
  readonly kind: 'text'
  readonly text: string
  /** The part as the client sent it, for vendor-specific fields. */
  readonly raw: Readonly<Record<string, unknown>>
}

export interface MediaPart {
  readonly kind: 'image' | 'audio' | 'file'
  readonly source: InlineData | { readonly url: string } | { readonly fileId: string }
  readonly filename?: string
  /** The path of the source in the request, for error messages. */
  readonly param: string
  readonly raw: Readonly<Record<string, unknown>>
}

/** Reads `content`, which may be a string, a list of parts, or absent. Drops empty texts, because vendors reject them. */
export function readContent(content: unknown, param: string): Part[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ kind: 'text', text: content, raw: {} }]
  if (!Array.isArray(content)) throw invalid(`"${param}" must be a string or a list of parts.`, param)
  return content
    .map((part, index) => readPart(part, `${param}[${index}]`))
    .filter((part) => part.kind !== 'text' || part.text !== '')
}

/** Reads content that may consist only of text. */
export function readText(content: unknown, param: string): TextPart[] {
  return readContent(content, param).map((part) => {
    if (part.kind !== 'text') throw invalid(`"${param}" may contain only text.`, part.param)
    return part
  })
}

function readPart(raw: unknown, param: string): Part {
  if (!isRecord(raw)) throw invalid(`"${param}" must be an object.`, param)
  switch (raw['type']) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { kind: 'text', text: stringIn(raw, 'text', param), raw }
    case 'refusal':
      return { kind: 'text', text: stringIn(raw, 'refusal', param), raw }
    case 'image_url':
      return imagePart(raw, `${param}.image_url`)
    case 'input_audio':
      return audioPart(raw, `${param}.input_audio`)
    case 'file':
      return filePart(raw, `${param}.file`)
    default:
      throw invalid(`"${param}.type" must be "text", "image_url", "input_audio" or "file".`, `${param}.type`)
  }
}

function imagePart(raw: Record<string, unknown>, param: string): MediaPart {
  const image = raw['image_url']
  // Some clients send a plain URL instead of an object.
  const url = typeof image === 'string' ? image : stringIn(readRecord(image, param), 'url', param)
  const where = typeof image === 'string' ? param : `${param}.url`
  return { kind: 'image', source: sourceOf(url, where), param: where, raw }
}

function audioPart(raw: Record<string, unknown>, param: string): MediaPart {
  const audio = readRecord(raw['input_audio'], param)
  const format = stringIn(audio, 'format', param)
  const mediaType = format === 'mp3' ? 'audio/mpeg' : `audio/${format}`
  const source = { mediaType, base64: plainBase64(stringIn(audio, 'data', param)) }
  return { kind: 'audio', source, param, raw }
}

function filePart(raw: Record<string, unknown>, param: string): MediaPart {
  const file = readRecord(raw['file'], param)
  const filename = typeof file['filename'] === 'string' ? file['filename'] : undefined
  const named = filename === undefined ? {} : { filename }
  if (typeof file['file_id'] === 'string') {
    return { kind: 'file', source: { fileId: file['file_id'] }, param: `${param}.file_id`, raw, ...named }
  }
  const data = stringIn(file, 'file_data', param)
  const where = `${param}.file_data`
  // Bare base64, unlike a URL, has no colon.
  const bare = /^[A-Za-z0-9+/=_\s-]+$/.test(data.slice(0, 1_000))
  const source = bare ? { mediaType: typeByName(filename), base64: plainBase64(data) } : sourceOf(data, where)
  const image = 'mediaType' in source && source.mediaType.startsWith('image/')
  return { kind: image ? 'image' : 'file', source, param: where, raw, ...named }
}

function sourceOf(url: string, param: string): MediaPart['source'] {
  const inline = readDataUrl(url)
  if (inline !== undefined) {
    if (inline.base64 === '') throw invalid(`"${param}" contains no data.`, param)
    return inline.mediaType === 'image/jpg' ? { ...inline, mediaType: 'image/jpeg' } : inline
  }
  if (/^https?:\/\//i.test(url)) return { url }
  throw invalid(`"${param}" must be an http(s) URL or a data URL.`, param)
}

function typeByName(filename: string | undefined): string {
  return filename?.toLowerCase().endsWith('.txt') ? 'text/plain' : 'application/pdf'
}

export function readRecord(value: unknown, param: string): Record<string, unknown> {
  if (!isRecord(value)) throw invalid(`"${param}" must be an object.`, param)
  return value
}

/** Reads a list; empty if absent. */
export function listOf(value: unknown, param: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw invalid(`"${param}" must be a list.`, param)
  return value
}

export function stringIn(record: Record<string, unknown>, name: string, param: string): string {
  const value = record[name]
  if (typeof value !== 'string') throw invalid(`"${param}.${name}" must be a string.`, `${param}.${name}`)
  return value
}
