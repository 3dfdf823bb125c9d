/** Writes the content of a chat's messages. */
import type { Block, Fields, MediaBlock, TextBlock } from '../../conversation/conversation.ts'
import { dataUrlOf } from '../../providers/data-url.ts'
import type { Target } from '../format.ts'
import { insteadOf } from '../instead.ts'
import { audioFormat, contextOf, documentText, unknownId } from '../media.ts'
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
  const written = textIn(block)
  if (written !== undefined) return [{ type: 'text', text: written, ...more }]
  const { type, source, name } = block
  if (type === 'image') {
    return [{ type: 'image_url', image_url: { url: urlOf(block), ...(detail as Fields | undefined) }, ...more }]
  }
  if (type === 'audio' && 'base64' in source) {
    return [
      { type: 'input_audio', input_audio: { data: source.base64, format: audioFormat(source.mediaType) }, ...more },
    ]
  }
  const file =
    'id' in source
      ? { file_id: source.id, filename: name || undefined }
      : { filename: name || 'document.pdf', file_data: urlOf(block) }
  return [...contextOf(block).map((text) => ({ type: 'text', text })), { type: 'file', file, ...more }]
}

function urlOf({ source, place = 'messages' }: MediaBlock): string {
  if ('url' in source) return source.url
  if ('base64' in source) return dataUrlOf(source)
  throw unknownId(place)
}

/** The text of a block that every model can read, also of a document that is text; undefined for any other. */
export function textIn(block: Block): string | undefined {
  if (block.kind === 'text') return block.text
  if (block.kind !== 'media' || block.type !== 'file') return undefined
  const { source } = block
  if ('text' in source) return documentText(block, source.text)
  if (!('base64' in source) || !source.mediaType.startsWith('text/')) return undefined
  return documentText(block, Buffer.from(source.base64, 'base64').toString('utf8'))
}

/** A block of text, if it says something. */
export function isSaid(block: Block): block is TextBlock {
  return block.kind === 'text' && block.text !== ''
}
