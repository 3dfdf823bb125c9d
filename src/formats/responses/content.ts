/** The parts of messages and of tool outputs, in both directions. */
import { GatewayError, invalid } from '../../errors.ts'
import { isRecord, textOf } from '../../wire/json.ts'
import type { Block, Fields, MediaBlock, TextBlock } from '../../conversation/conversation.ts'
import { others } from '../../conversation/json.ts'
import { readFile, readUrl } from '../chat/content.ts'
import { insteadOf } from '../instead.ts'
import { tokensIn } from '../chat/logprobs.ts'
import { annotationOf, readAnnotations } from './citations.ts'

type Mutable<Each> = { -readonly [Name in keyof Each]: Each[Name] }

/** Throws 400 for a part that no other wire can say. */
export function readParts(content: unknown, place: string): Block[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ kind: 'text', text: content, place }]
  if (!Array.isArray(content)) throw invalid(`"${place}" must be a string or a list of parts.`, place)
  return content.map((raw: unknown, index) => readPart(raw, `${place}[${index}]`))
}

const texts = new Set(['type', 'text', 'annotations', 'logprobs'])
const refusals = new Set(['type', 'refusal', 'logprobs'])
const images = new Set(['type', 'image_url', 'file_id', 'detail'])
const files = new Set(['type', 'filename', 'file_data', 'file_url', 'file_id'])
const audios = new Set(['type', 'input_audio'])

function readPart(raw: unknown, place: string): Block {
  if (!isRecord(raw)) throw invalid(`"${place}" must be an object.`, place)
  const { type } = raw
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'summary_text':
    case 'reasoning_text':
    case 'text':
      return readText(raw, place)
    case 'refusal': {
      const logprobs = tokensIn(raw['logprobs'])
      const block: Mutable<Extract<Block, { kind: 'refusal' }>> = {
        kind: 'refusal',
        text: textOf(raw['refusal']),
        place,
      }
      if (logprobs !== undefined) block.logprobs = logprobs
      return withOwn(block, others(raw, refusals))
    }
    case 'input_image':
    case 'computer_screenshot':
      return readImage(raw, place)
    case 'input_file':
      return readDocument(raw, place)
    case 'input_audio':
      return readAudio(raw, place)
    default: {
      const name = textOf(type).slice(0, 64)
      throw unsupported(`${place}.type`, `This model does not support content of type "${name}".`)
    }
  }
}

function readText(raw: Fields, place: string): TextBlock {
  const { text, annotations, logprobs } = raw
  if (typeof text !== 'string') throw invalid(`Missing required parameter: "${place}.text".`, `${place}.text`)
  const block: Mutable<TextBlock> = { kind: 'text', text, place }
  const citations = readAnnotations(annotations)
  if (citations !== undefined) block.citations = citations
  const tokens = tokensIn(logprobs)
  if (tokens !== undefined) block.logprobs = tokens
  return withOwn(block, others(raw, texts))
}

function readImage(raw: Fields, place: string): Block {
  const { image_url: url, file_id: id, detail } = raw
  const own = { ...others(raw, images), ...(typeof detail === 'string' && detail !== 'auto' && { detail }) }
  const more = Object.keys(own).length === 0 ? undefined : own
  if (typeof url === 'string') {
    const source = readUrl(url, `${place}.image_url`)
    const block: Block = { kind: 'media', type: 'image', source, place: `${place}.image_url` }
    const chat = detail === 'low' || detail === 'high' ? { chat: { image_url: { detail } } } : undefined
    return more === undefined ? block : { ...block, own: { responses: more, ...chat } }
  }
  if (typeof id !== 'string')
    throw unsupported(`${place}.image_url`, 'This model requires "image_url", a URL or a data URL.')
  return withOwn({ kind: 'media', type: 'image', source: { id }, place: `${place}.image_url` }, more)
}

function readDocument(raw: Fields, place: string): Block {
  const { filename, file_data: data, file_url: url, file_id: id } = raw
  const own = others(raw, files)
  if (typeof data === 'string') {
    const common = own === undefined ? { place } : { place, own: { responses: own } }
    return readFile(raw, place, common)
  }
  const field = typeof url === 'string' ? 'file_url' : typeof id === 'string' ? 'file_id' : 'file_data'
  if (field === 'file_data') throw unsupported(`${place}.file_data`, 'This model requires "file_data", a data URL.')
  const source = typeof url === 'string' ? readUrl(url, `${place}.file_url`) : { id: id as string }
  const block: Mutable<MediaBlock> = { kind: 'media', type: 'file', source, place: `${place}.${field}` }
  if (typeof filename === 'string') block.name = filename
  return withOwn(block, own)
}

function readAudio(raw: Fields, place: string): Block {
  const { input_audio: audio } = raw
  if (!isRecord(audio) || typeof audio['data'] !== 'string' || typeof audio['format'] !== 'string')
    throw invalid(`"${place}.input_audio" must have "data" and "format".`, `${place}.input_audio`)
  const mediaType = audio['format'] === 'mp3' ? 'audio/mpeg' : `audio/${audio['format']}`
  const source = { mediaType, base64: audio['data'] }
  return withOwn({ kind: 'media', type: 'audio', source, place }, others(raw, audios))
}

function withOwn<Each extends Block>(block: Each, own: Fields | undefined): Each {
  return own === undefined ? block : { ...block, own: { ...block.own, responses: own } }
}

export function unsupported(param: string, message: string): GatewayError {
  return new GatewayError('unsupported_value', { param, message })
}

/** What the user says, instructions and tool outputs. */
export function writeInputParts(blocks: readonly Block[], omit: (place: string, why: string) => void): Fields[] {
  return blocks.flatMap((block) => writeInputPart(block, omit))
}

function writeInputPart(block: Block, omit: (place: string, why: string) => void): Fields[] {
  const more = block.own?.responses
  switch (block.kind) {
    case 'text':
      return [{ type: 'input_text', text: block.text, ...more }]
    case 'refusal':
      return [{ type: 'input_text', text: block.text, ...more }]
    case 'media':
      return writeMedia(block)
    case 'own':
      return writeInputParts(insteadOf(block, 'responses', { omit }), omit)
    default:
      return []
  }
}

/** A document that is text is said as text. */
function writeMedia({ type, source, name, context, place = 'input', own }: MediaBlock): Fields[] {
  const more = own?.responses
  const said = context === undefined ? [] : [`Context: ${context}`]
  if ('text' in source) {
    const lines = [...(name === undefined ? [] : [`Title: ${name}`]), ...said, source.text]
    return [{ type: 'input_text', text: `<document>\n${lines.join('\n')}\n</document>` }]
  }
  if (type === 'audio') {
    if (!('base64' in source)) throw invalid(`This model does not support "${place}": audio by a URL.`, place)
    const format = source.mediaType === 'audio/mpeg' ? 'mp3' : source.mediaType.slice('audio/'.length)
    return [{ type: 'input_audio', input_audio: { data: source.base64, format }, ...more }]
  }
  const before = said.map((text) => ({ type: 'input_text', text }))
  const url =
    'base64' in source ? `data:${source.mediaType};base64,${source.base64}` : 'url' in source ? source.url : ''
  if (type === 'image')
    return [
      {
        type: 'input_image',
        ...('id' in source ? { file_id: source.id } : { image_url: url }),
        detail: 'auto',
        ...more,
      },
    ]
  const filename = name === undefined || name === '' ? {} : { filename: name }
  if ('id' in source) return [...before, { type: 'input_file', file_id: source.id, ...filename, ...more }]
  if ('url' in source) return [...before, { type: 'input_file', file_url: source.url, ...filename, ...more }]
  return [...before, { type: 'input_file', filename: 'document.pdf', ...filename, file_data: url, ...more }]
}

/** A text of the model, with the citations that this wire can say. */
export function writeOutputText({ text, citations, own }: TextBlock): Fields {
  const annotations = (citations ?? [])
    .map((each) => annotationOf(each, 0, text.length))
    .filter((each) => each !== undefined)
  const { item: _, part: __, ...more } = own?.responses ?? {}
  return { type: 'output_text', text, ...(annotations.length > 0 && { annotations }), ...more }
}
