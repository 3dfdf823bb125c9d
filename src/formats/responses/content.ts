/** The parts of messages and of tool outputs, in both directions. */
import { invalid, refusedValue } from '../../errors.ts'
import { dataUrlOf } from '../../providers/data-url.ts'
import { fieldsOf, isRecord, stringOf, textOf } from '../../wire/json.ts'
import type { Block, Fields, MediaBlock, TextBlock } from '../../conversation/conversation.ts'
import { asOwn, others, ownOf } from '../../conversation/own.ts'
import { readFile, readUrl } from '../chat/content.ts'
import { insteadOf } from '../instead.ts'
import { audioFormat, audioType, contextOf, documentText } from '../media.ts'
import { tokensIn } from '../chat/logprobs.ts'
import { annotationsOf, readAnnotations } from './citations.ts'

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
      const [text, logprobs] = [textOf(raw['refusal']), tokensIn(raw['logprobs'])]
      return { kind: 'refusal', text, place, logprobs, own: ownOf('responses', raw, refusals) }
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
      throw refusedValue(`This model does not support content of type "${name}".`, `${place}.type`)
    }
  }
}

function readText(raw: Fields, place: string): TextBlock {
  const { text, annotations, logprobs } = raw
  if (typeof text !== 'string') throw invalid(`Missing required parameter: "${place}.text".`, `${place}.text`)
  const citations = readAnnotations(annotations)
  return { kind: 'text', text, place, citations, logprobs: tokensIn(logprobs), own: ownOf('responses', raw, texts) }
}

function readImage(raw: Fields, place: string): Block {
  const { image_url: url, file_id: id, detail } = raw
  const own = { ...others(raw, images), ...(typeof detail === 'string' && detail !== 'auto' && { detail }) }
  const more = Object.keys(own).length === 0 ? undefined : own
  const common = { kind: 'media', type: 'image', place: `${place}.image_url` } as const
  if (typeof url === 'string') {
    const chat = detail === 'low' || detail === 'high' ? { chat: { image_url: { detail } } } : undefined
    return { ...common, source: readUrl(url, common.place), own: more && { responses: more, ...chat } }
  }
  if (typeof id === 'string') return { ...common, source: { id }, own: asOwn('responses', more) }
  throw refusedValue('This model requires "image_url", a URL or a data URL.', common.place)
}

function readDocument(raw: Fields, place: string): Block {
  const { file_data: data, file_url: url, file_id: id } = raw
  const own = ownOf('responses', raw, files)
  if (typeof data === 'string') return readFile(raw, place, { place, own })
  const name = stringOf(raw['filename'])
  const common = { kind: 'media', type: 'file', name, own } as const
  if (typeof url === 'string') {
    const where = `${place}.file_url`
    return { ...common, source: readUrl(url, where), place: where }
  }
  if (typeof id === 'string') return { ...common, source: { id }, place: `${place}.file_id` }
  throw refusedValue('This model requires "file_data", a data URL.', `${place}.file_data`)
}

function readAudio(raw: Fields, place: string): Block {
  const { data, format } = fieldsOf(raw['input_audio'])
  if (typeof data !== 'string' || typeof format !== 'string')
    throw invalid(`"${place}.input_audio" must have "data" and "format".`, `${place}.input_audio`)
  const source = { mediaType: audioType(format), base64: data }
  return { kind: 'media', type: 'audio', source, place, own: ownOf('responses', raw, audios) }
}

/** What the user says, instructions and tool outputs. */
export function writeInputParts(blocks: readonly Block[], omit: (place: string, why: string) => void): Fields[] {
  return blocks.flatMap((block) => writeInputPart(block, omit))
}

function writeInputPart(block: Block, omit: (place: string, why: string) => void): Fields[] {
  const more = block.own?.responses
  switch (block.kind) {
    case 'text':
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
function writeMedia(block: MediaBlock): Fields[] {
  const { type, source, name, place = 'input', own } = block
  const more = own?.responses
  if ('text' in source) return [{ type: 'input_text', text: documentText(block, source.text) }]
  if (type === 'audio') {
    if (!('base64' in source)) throw invalid(`This model does not support "${place}": audio by a URL.`, place)
    const audio = { data: source.base64, format: audioFormat(source.mediaType) }
    return [{ type: 'input_audio', input_audio: audio, ...more }]
  }
  const url = 'base64' in source ? dataUrlOf(source) : 'url' in source ? source.url : undefined
  if (type === 'image') {
    const image = 'id' in source ? { file_id: source.id } : { image_url: url }
    return [{ type: 'input_image', ...image, detail: 'auto', ...more }]
  }
  const filename = name || undefined
  const file =
    'id' in source
      ? { file_id: source.id, filename }
      : 'url' in source
        ? { file_url: url, filename }
        : { filename: filename ?? 'document.pdf', file_data: url }
  return [...contextOf(block).map((text) => ({ type: 'input_text', text })), { type: 'input_file', ...file, ...more }]
}

/** A text of the model, with the citations that this wire can say. */
export function writeOutputText({ text, citations, own }: TextBlock): Fields {
  const annotations = annotationsOf(citations, 0, text.length)
  const { item: _, part: __, ...more } = own?.responses ?? {}
  return { type: 'output_text', text, ...(annotations.length > 0 && { annotations }), ...more }
}
