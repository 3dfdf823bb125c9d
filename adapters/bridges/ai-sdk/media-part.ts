import type { GeneratedPart } from '../../../src/providers/generated-part.ts'
import { isRecord, textOf, type Fields } from '../../../src/wire/json.ts'

/** An image, audio or a file that a model has made; none if its data is in a form that is not known. */
export function mediaPart({ mediaType: given, data }: Fields): GeneratedPart[] {
  const mediaType = textOf(given)
  const [kind] = mediaType.split('/', 1)
  const type = kind === 'image' || kind === 'audio' ? kind : 'file'
  const inner = isRecord(data) && ('data' in data || 'url' in data) ? (data['data'] ?? data['url']) : data
  if (inner instanceof URL) return [{ kind: 'media', type, source: { url: inner.href, mediaType } }]
  const base64 = inner instanceof Uint8Array ? Buffer.from(inner).toString('base64') : inner
  return typeof base64 === 'string' ? [{ kind: 'media', type, source: { mediaType, base64 } }] : []
}
