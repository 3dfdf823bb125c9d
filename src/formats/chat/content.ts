/** Reads the content of a chat's messages. */
import { invalid } from '../../errors.ts'
import { plainBase64, readDataUrl } from '../../providers/data-url.ts'
import { readRecord, stringIn } from '../../providers/reading/parts.ts'
import { entryIn, fieldsOf, isRecord, itemsOf, stringOf, textOf } from '../../wire/json.ts'
import type { Block, CacheMark, Fields, MediaBlock, MediaSource, Own } from '../../conversation/conversation.ts'
import { others, ownOf } from '../../conversation/own.ts'
import { audioType } from '../media.ts'

/** A string, a list of parts, or nothing. Throws 400 with the place. */
export function readContent(content: unknown, place: string): Block[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ kind: 'text', text: content, place }]
  if (!Array.isArray(content)) throw invalid(`"${place}" must be a string or a list of parts.`, place)
  return content.map((raw: unknown, index) => readPart(raw, `${place}[${index}]`))
}

const marks = ['type', 'cache_control', 'prompt_cache_breakpoint']
const texts = new Set([...marks, 'text'])
const knownFields: Readonly<Record<string, ReadonlySet<string>>> = {
  text: texts,
  input_text: texts,
  output_text: texts,
  refusal: new Set([...marks, 'refusal']),
  image_url: new Set([...marks, 'image_url']),
  input_audio: new Set([...marks, 'input_audio']),
  file: new Set([...marks, 'file']),
}

/** What every block has. */
export interface Common {
  readonly place: string
  readonly cache?: CacheMark | undefined
  readonly own?: Own | undefined
}

function readPart(raw: unknown, place: string): Block {
  if (!isRecord(raw)) throw invalid(`"${place}" must be an object.`, place)
  const { type } = raw
  // Mistral's content may contain the model's reasoning.
  if (type === 'thinking') return { kind: 'reasoning', text: thinkingIn(raw['thinking']), place }
  const known = entryIn(knownFields, type)
  if (known === undefined) return { kind: 'own', format: 'chat', value: raw, place }
  const common: Common = { place, cache: cacheOf(raw), own: ownOf('chat', raw, known) }
  switch (type) {
    case 'refusal':
      return { kind: 'refusal', text: stringIn(raw, 'refusal', place), ...common }
    case 'image_url':
      return readImage(raw['image_url'], `${place}.image_url`, common)
    case 'input_audio':
      return readAudio(readRecord(raw['input_audio'], `${place}.input_audio`), `${place}.input_audio`, common)
    case 'file':
      return readFile(readRecord(raw['file'], `${place}.file`), `${place}.file`, common)
    default:
      return { kind: 'text', text: stringIn(raw, 'text', place), ...common }
  }
}

/** The text of a part of thinking in Mistral's form: a string, or parts of text. */
export function thinkingIn(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking
  return itemsOf(thinking)
    .map((each) => textOf(fieldsOf(each)['text']))
    .join('')
}

const imageFields = new Set(['url'])

/** Some clients send a plain URL instead of an object. */
function readImage(image: unknown, place: string, common: Common): MediaBlock {
  if (typeof image === 'string')
    return { kind: 'media', type: 'image', source: readUrl(image, place), ...common, place }
  const fields = readRecord(image, place)
  const source = readUrl(stringIn(fields, 'url', place), `${place}.url`)
  const rest = others(fields, imageFields)
  const own = rest === undefined ? common.own : { chat: { ...common.own?.chat, image_url: rest } }
  return { kind: 'media', type: 'image', source, ...common, own, place: `${place}.url` }
}

function readAudio(audio: Record<string, unknown>, place: string, common: Common): MediaBlock {
  const format = stringIn(audio, 'format', place)
  const base64 = plainBase64(stringIn(audio, 'data', place))
  return { kind: 'media', type: 'audio', source: { mediaType: audioType(format), base64 }, ...common, place }
}

export function readFile(file: Record<string, unknown>, place: string, common: Common): MediaBlock {
  const { filename, file_id: id } = file
  const name = stringOf(filename)
  if (typeof id === 'string')
    return { kind: 'media', type: 'file', source: { id }, name, ...common, place: `${place}.file_id` }
  const data = stringIn(file, 'file_data', place)
  const where = `${place}.file_data`
  // Bare base64, unlike a URL, has no colon.
  const bare = /^[A-Za-z0-9+/=_\s-]+$/.test(data.slice(0, 1_000))
  const source = bare ? { mediaType: typeByName(textOf(filename)), base64: plainBase64(data) } : readUrl(data, where)
  const isImage = 'base64' in source && source.mediaType.startsWith('image/')
  return { kind: 'media', type: isImage ? 'image' : 'file', source, name, ...common, place: where }
}

function typeByName(filename: string): string {
  return filename.toLowerCase().endsWith('.txt') ? 'text/plain' : 'application/pdf'
}

export function readUrl(url: string, place: string): MediaSource {
  const source = sourceOf(url)
  if (source === undefined) throw invalid(`"${place}" must be an http(s) URL or a data URL.`, place)
  if ('base64' in source && source.base64 === '') throw invalid(`"${place}" contains no data.`, place)
  return source
}

/** The source in an HTTP or data URL; undefined for any other text. */
export function sourceOf(url: string): MediaSource | undefined {
  const inline = readDataUrl(url)
  if (inline !== undefined) return inline.mediaType === 'image/jpg' ? { ...inline, mediaType: 'image/jpeg' } : inline
  return /^https?:\/\//i.test(url) ? { url } : undefined
}

/** The mark of a part or a tool, in Anthropic's form or in OpenAI's. */
export function cacheOf({ cache_control: mark, prompt_cache_breakpoint: breakpoint }: Fields): CacheMark | undefined {
  if (isRecord(mark)) return { ttl: stringOf(mark['ttl']) }
  return isRecord(breakpoint) ? {} : undefined
}
