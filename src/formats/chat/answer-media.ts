/** What a model makes beside text: images, and one audio for each answer. */
import { isRecord, stringOf, textOf } from '../../wire/json.ts'
import type { Fields, MediaBlock } from '../../conversation/conversation.ts'
import { ownOf } from '../../conversation/own.ts'
import { dataUrlOf } from '../../providers/data-url.ts'
import { sourceOf } from './content.ts'

/** An image in the form of OpenRouter; undefined if it is none. */
export function imageOf(raw: unknown): MediaBlock | undefined {
  const image = isRecord(raw) ? raw['image_url'] : undefined
  const url = isRecord(image) ? image['url'] : image
  const source = typeof url === 'string' ? sourceOf(url) : undefined
  return source === undefined ? undefined : { kind: 'media', type: 'image', source }
}

/** Whether a message has a field for such a block. Its text says where the others were. */
export function isHeld({ type, source }: Pick<MediaBlock, 'type' | 'source'>): boolean {
  return 'base64' in source ? type !== 'file' : type === 'image' && 'url' in source
}

export function writeImage({ source }: Pick<MediaBlock, 'source'>): Fields {
  const url = 'url' in source ? source.url : 'base64' in source ? dataUrlOf(source) : ''
  return { type: 'image_url', image_url: { url } }
}

/** The beginnings of audio in base64. Streams are raw samples. */
const beginnings = [
  ['UklGR', 'audio/wav'],
  ['SUQz', 'audio/mpeg'],
  ['//', 'audio/mpeg'],
  ['T2dnUw', 'audio/ogg'],
  ['ZkxhQ', 'audio/flac'],
] as const

const audioFields = new Set(['data', 'transcript'])

/** The audio of an answer, or a piece of it; undefined if there is none. Some vendors send an empty object. */
export function audioOf(raw: unknown): MediaBlock | undefined {
  if (!isRecord(raw)) return undefined
  const [base64, transcript] = [textOf(raw['data']), stringOf(raw['transcript'])]
  const own = ownOf('chat', raw, audioFields)
  if (base64 === '' && transcript === undefined && !own?.chat?.['id']) return undefined
  const mediaType = beginnings.find(([beginning]) => base64.startsWith(beginning))?.[1] ?? 'audio/pcm'
  return { kind: 'media', type: 'audio', source: { mediaType, base64 }, transcript, own }
}

/** The `audio` of a message, or of a delta. */
export function writeAudio({ source, transcript, own }: Pick<MediaBlock, 'source' | 'transcript' | 'own'>): Fields {
  const audio: Record<string, unknown> = { ...own?.chat }
  if ('base64' in source && source.base64 !== '') audio['data'] = source.base64
  if (transcript !== undefined) audio['transcript'] = transcript
  return audio
}
