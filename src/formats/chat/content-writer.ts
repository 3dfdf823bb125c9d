/** Writes the content of a chat's messages. */
import { GatewayError } from '../../errors.ts'
import type { Block, Fields, MediaBlock, TextBlock } from '../../conversation/conversation.ts'
import type { Target } from '../format.ts'
import { insteadOf } from '../instead.ts'
import type { ChatTraits } from './traits.ts'

type To = Pick<Target<ChatTraits>, 'traits' | 'omit'>

/** Blocks as content: text alone as a string, because not every model takes parts. */
export function writeContent(blocks: readonly Block[], to: To): string | Fields[] {
  const { traits } = to
  let text = ''
  let count = 0
  for (const block of blocks) {
    const said = textIn(block)
    const isPlain =
      (traits.textParts !== true || (block.own === undefined && blocks.length === 1)) &&
      (block.cache === undefined || traits.cacheControl !== true)
    if (said === undefined || !isPlain) return blocks.flatMap((each) => writePart(each, to))
    text += count++ === 0 ? said : `\n\n${said}`
  }
  return text
}

const noFields: Fields = {}

function furtherFields({ cache, own }: Block, { cacheControl }: ChatTraits): Fields {
  const marked = cacheControl === true && cache !== undefined
  if (!marked) return own?.chat ?? noFields
  return { cache_control: { type: 'ephemeral', ...cache }, ...own?.chat }
}

/** The parts for one block. */
export function writePart(block: Block, to: To): Fields[] {
  switch (block.kind) {
    case 'text':
      return [{ type: 'text', text: block.text, ...furtherFields(block, to.traits) }]
    case 'refusal':
      return [{ type: 'refusal', refusal: block.text, ...furtherFields(block, to.traits) }]
    case 'media':
      return writeMedia(block, furtherFields(block, to.traits))
    case 'own':
      return block.format === 'chat'
        ? [block.value]
        : insteadOf(block, 'chat', to).flatMap((each) => writePart(each, to))
    default:
      return []
  }
}

function writeMedia(block: MediaBlock, { image_url: detail, ...more }: Fields): Fields[] {
  const written = documentText(block)
  if (written !== undefined) return [{ type: 'text', text: written, ...more }]
  const { type, source, name, context } = block
  if (type === 'image') {
    return [{ type: 'image_url', image_url: { url: urlOf(block), ...(detail as Fields | undefined) }, ...more }]
  }
  if (type === 'audio' && 'base64' in source) {
    const format = source.mediaType === 'audio/mpeg' ? 'mp3' : source.mediaType.slice('audio/'.length)
    return [{ type: 'input_audio', input_audio: { data: source.base64, format }, ...more }]
  }
  const file: Record<string, unknown> = {}
  if ('id' in source) {
    file['file_id'] = source.id
    if (name !== undefined && name !== '') file['filename'] = name
  } else {
    file['filename'] = name === undefined || name === '' ? 'document.pdf' : name
    file['file_data'] = urlOf(block)
  }
  const before = context === undefined ? [] : [{ type: 'text', text: `Context: ${context}` }]
  return [...before, { type: 'file', file, ...more }]
}

function urlOf({ source, place = 'messages' }: MediaBlock): string {
  if ('url' in source) return source.url
  if ('base64' in source) return `data:${source.mediaType};base64,${source.base64}`
  const message = `This model does not support "${place}" by id. Send the data as base64.`
  throw new GatewayError('unsupported_value', { param: place, message })
}

/** A document that is text, as text; undefined for any other. */
export function documentText({ type, source, name, context }: MediaBlock): string | undefined {
  if (type !== 'file') return undefined
  const text =
    'text' in source
      ? source.text
      : 'base64' in source && source.mediaType.startsWith('text/')
        ? Buffer.from(source.base64, 'base64').toString('utf8')
        : undefined
  if (text === undefined) return undefined
  const lines = [
    ...(name === undefined ? [] : [`Title: ${name}`]),
    ...(context === undefined ? [] : [`Context: ${context}`]),
    text,
  ]
  return `<document>\n${lines.join('\n')}\n</document>`
}

/** The text of a block that every model can read; undefined for any other. */
export function textIn(block: Block): string | undefined {
  if (block.kind === 'text') return block.text
  return block.kind === 'media' ? documentText(block) : undefined
}

/** A block of text, if it says something. */
export function isSaid(block: Block): block is TextBlock {
  return block.kind === 'text' && block.text !== ''
}
