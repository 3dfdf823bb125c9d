/** Images and documents of the Messages wire. */
import type { MediaBlock, MediaSource } from '../../conversation/conversation.ts'
import { unsupported, unsupportedValue } from '../../providers/unsupported.ts'
import type { Fields } from '../../wire/json.ts'

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

/** Who is to read media. */
export interface MediaReader {
  /** The public name. */
  readonly model: string
  /** Whether files may be named by the id that the client knows. Default false. */
  readonly takesIds?: boolean
}

/** Writes an image or a document. Throws 400 for what cannot be written. */
export function writeMedia(
  { type, source, name, context, place = 'messages' }: MediaBlock,
  { model, takesIds = false }: MediaReader,
): Record<string, unknown> {
  if (type === 'audio' || ('id' in source && !takesIds)) throw unsupported({ publicModel: model }, place)
  const written: Record<string, unknown> = {
    type: type === 'image' ? 'image' : 'document',
    source: writeSource(type, source, model, place),
  }
  if (name !== undefined && type === 'file') written['title'] = name
  if (context !== undefined) written['context'] = context
  return written
}

function writeSource(type: 'image' | 'file', source: MediaSource, model: string, place: string): Fields {
  if ('url' in source) return { type: 'url', url: source.url }
  if ('text' in source) return { type: 'text', media_type: 'text/plain', data: source.text }
  if ('id' in source) return { type: 'file', file_id: source.id }
  const { mediaType, base64 } = source
  if (type === 'image') {
    if (!imageTypes.has(mediaType))
      throw unsupportedValue({ publicModel: model }, place, 'images must be jpeg, png, gif or webp.')
  } else if (mediaType.startsWith('text/')) {
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(base64, 'base64').toString('utf8') }
  } else if (mediaType !== 'application/pdf') {
    throw unsupportedValue({ publicModel: model }, place, 'files must be PDF or text.')
  }
  return { type: 'base64', media_type: mediaType, data: base64 }
}
