/** Images, audio and files for a vendor. */
import type { MediaBlock, MediaSource } from '../../conversation/conversation.ts'
import { unsupported, unsupportedValue } from '../../providers/unsupported.ts'
import type { Fields } from '../../wire/json.ts'
import type { Target } from '../format.ts'
import { contextOf, documentText } from '../media.ts'
import { isFetched, writeMedia } from './media.ts'
import { isForModel, type ContentTraits } from '../../providers/content-traits.ts'

/** A document that is text is said as text. */
export function mediaParts(block: MediaBlock, to: Target<ContentTraits>): Fields[] {
  const { source, name, own, place = 'contents' } = block
  if ('text' in source) return [{ text: documentText(block, source.text) }]
  if ('id' in source) throw unsupported({ publicModel: to.model }, place)
  if ('url' in source && !isFetched(source.url, to.traits.fetchesUrls !== false)) {
    const why =
      to.traits.fetchesUrls === false
        ? 'the model does not fetch URLs; send the data as a data URL.'
        : 'the vendor fetches only URLs with https; send the data as a data URL.'
    throw unsupportedValue({ publicModel: to.model }, place, why)
  }
  // The Gemini API does not take names.
  const part = writeMedia(withMediaType(source), isForModel(to.traits) ? undefined : name)
  return [...contextOf(block).map((text) => ({ text })), { ...part, ...own?.gemini }]
}

const types: Readonly<Record<string, string>> = {
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  wav: 'audio/wav',
  webp: 'image/webp',
}

/** With the type that the end of an address tells, if the client has named none. */
function withMediaType(source: MediaSource): MediaSource {
  if (!('url' in source) || source.mediaType !== undefined) return source
  const mediaType = types[/\.(\w{3,4})(?:[?#]|$)/.exec(source.url)?.[1]?.toLowerCase() ?? '']
  return mediaType === undefined ? source : { ...source, mediaType }
}
