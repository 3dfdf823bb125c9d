/** Reads the blocks of users and of tool results, for vendors whose format is not Anthropic's. */
import { GatewayError, invalid } from '../../../errors.ts'
import type { MessageBlock, MessageSource } from '../../../wire/messages.ts'
import { textOf } from '../../../wire/json.ts'

export type MessagePart = TextPart | MediaPart

export interface TextPart {
  readonly kind: 'text'
  readonly text: string
  /** The cache marker of the block, for vendors that take it. */
  readonly cache?: unknown
}

export interface MediaPart {
  readonly kind: 'image' | 'file'
  /** A URL or a data URL. */
  readonly url: string
  readonly filename?: string
  readonly cache?: unknown
}

/** Reads content, a string or blocks. Drops empty texts, which vendors reject. `place`: its path in the request. */
export function partsOf(content: unknown, place: string): MessagePart[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  if (!Array.isArray(content)) throw invalid(`"${place}" must be a string or an array of content blocks.`, place)
  const parts: MessagePart[] = []
  for (const [index, block] of (content as unknown[]).entries()) addPart(parts, block, `${place}[${index}]`)
  return parts
}

/** Adds the parts of one block. */
export function addPart(parts: MessagePart[], block: unknown, place: string): void {
  if (typeof block !== 'object' || block === null) throw invalid(`"${place}" must be an object.`, place)
  const { type, text, cache_control: cache } = block as MessageBlock
  const marked = typeof cache === 'object' && cache !== null ? { cache } : {}
  switch (type) {
    case 'text':
      if (typeof text !== 'string') throw invalid(`"${place}.text" must be a string.`, `${place}.text`)
      if (text !== '') parts.push({ kind: 'text', text, ...marked })
      return
    case 'image':
      parts.push({ kind: 'image', url: urlOf(sourceOf(block as MessageBlock, place), `${place}.source`), ...marked })
      return
    case 'document':
      return addDocument(parts, block as MessageBlock, place, marked)
    case 'search_result':
      parts.push({ kind: 'text', text: searchResult(block as MessageBlock, place), ...marked })
      return
    case 'tool_reference':
      parts.push({ kind: 'text', text: `The tool "${textOf((block as MessageBlock)['tool_name'])}" is available.` })
      return
    default:
      // Uploads to a container, and blocks that are newer than this reader.
      parts.push({
        kind: 'text',
        text: `[Content of the type "${textOf(type).slice(0, 64)}", which cannot be shown here]`,
      })
  }
}

function addDocument(
  parts: MessagePart[],
  block: MessageBlock,
  place: string,
  marked: { readonly cache?: unknown },
): void {
  const { title, context } = block
  const source = sourceOf(block, place)
  const where = `${place}.source`
  const head = [
    ...(typeof title === 'string' ? [`Title: ${title}`] : []),
    ...(typeof context === 'string' ? [`Context: ${context}`] : []),
  ]
  const written = textIn(source)
  if (written !== undefined) {
    parts.push({ kind: 'text', text: `<document>\n${[...head, written].join('\n')}\n</document>`, ...marked })
  } else if (source.type === 'content') {
    if (head.length > 0) parts.push({ kind: 'text', text: head.join('\n') })
    for (const part of partsOf(source.content, `${where}.content`)) parts.push({ ...part, ...marked })
  } else {
    if (typeof context === 'string') parts.push({ kind: 'text', text: `Context: ${context}` })
    const filename = typeof title === 'string' && title !== '' ? title : 'document.pdf'
    parts.push({ kind: 'file', url: urlOf(source, where), filename, ...marked })
  }
}

/** The text of a document that is text; undefined for any other. */
function textIn({ type, media_type: mediaType, data }: MessageSource): string | undefined {
  if (type === 'text') return textOf(data)
  if (type !== 'base64' || mediaType?.startsWith('text/') !== true) return undefined
  return Buffer.from(textOf(data), 'base64').toString('utf8')
}

function searchResult(block: MessageBlock, place: string): string {
  const texts = partsOf(block.content, `${place}.content`).flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  const head = [`Title: ${textOf(block['title'])}`, `Source: ${textOf(block['source'])}`]
  return `<search_result>\n${[...head, ...texts].join('\n')}\n</search_result>`
}

function sourceOf({ source }: MessageBlock, place: string): MessageSource {
  if (typeof source === 'object' && source !== null) return source
  throw invalid(`Missing required parameter: "${place}.source".`, `${place}.source`)
}

function urlOf({ type, media_type: mediaType, data, url }: MessageSource, place: string): string {
  if (type === 'base64') {
    if (typeof data !== 'string' || data === '') throw invalid(`"${place}.data" must be base64.`, `${place}.data`)
    return `data:${textOf(mediaType) || 'application/octet-stream'};base64,${data}`
  }
  if (type === 'url') {
    if (typeof url !== 'string') throw invalid(`"${place}.url" must be a string.`, `${place}.url`)
    return url
  }
  const message = `This model does not support "${place}" of the type "${textOf(type).slice(0, 64)}". Send the data as base64.`
  throw new GatewayError('unsupported_value', { param: `${place}.type`, message })
}
