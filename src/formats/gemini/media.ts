/** Images, audio and files of this wire, in both directions. */
import { isRecord, stringOf, textOf, type Fields } from '../../wire/json.ts'
import type { MediaBlock, MediaSource } from '../../conversation/conversation.ts'

export type Media = Pick<MediaBlock, 'type' | 'source'>

/** Undefined if a part has neither. */
export function readMedia(inlineData: unknown, fileData: unknown): Media | undefined {
  if (isRecord(inlineData)) {
    const { mimeType, data } = inlineData
    const mediaType = usualType(stringOf(mimeType) ?? 'image/png')
    return { type: typeOf(mediaType), source: { mediaType, base64: textOf(data) } }
  }
  if (!isRecord(fileData) || typeof fileData['fileUri'] !== 'string') return undefined
  const { mimeType, fileUri: url } = fileData
  const mediaType = typeof mimeType === 'string' ? usualType(mimeType) : undefined
  return { type: typeOf(mediaType ?? ''), source: { url, mediaType } }
}

function typeOf(mediaType: string): MediaBlock['type'] {
  if (mediaType.startsWith('image/')) return 'image'
  return mediaType.startsWith('audio/') ? 'audio' : 'file'
}

function usualType(mimeType: string): string {
  return mimeType === 'audio/mp3' ? 'audio/mpeg' : mimeType
}

/** The URLs that the API fetches even for models that fetch no others: Google's own. */
const googles = /^https:\/\/(?:generativelanguage\.googleapis\.com\/|(?:www\.)?youtube\.com\/|youtu\.be\/)|^gs:/

/** Whether the API fetches a URL. `any`: whether it fetches those of everybody. */
export function isFetched(url: string, any: boolean): boolean {
  return googles.test(url) || (any && /^https:/i.test(url))
}

export function writeMedia(source: MediaSource, name: string | undefined): Fields {
  if ('base64' in source) {
    const { mediaType, base64 } = source
    return { inlineData: { mimeType: googlesType(mediaType), data: base64, displayName: name } }
  }
  if (!('url' in source)) return { text: 'text' in source ? source.text : '' }
  const { url, mediaType } = source
  return { fileData: { mimeType: mediaType && googlesType(mediaType), fileUri: url, displayName: name } }
}

function googlesType(mediaType: string): string {
  return mediaType === 'audio/mpeg' ? 'audio/mp3' : mediaType
}
