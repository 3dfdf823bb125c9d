import { readDataUrl } from '../../providers/data-url.ts'
import type { Image, ImageRequest } from '../../wire/images.ts'

/**
 * An image in the requested `response_format`: converts between base64 and a `data:` URL. Other URLs are kept and not
 * downloaded. The same object if nothing has to change.
 */
export function inFormat(image: Image, format: ImageRequest['response_format'], type: string | undefined): Image {
  const { b64_json: base64, url, ...rest } = image
  if (format === 'url' && url === undefined && base64 !== undefined) {
    return { ...rest, url: `data:image/${type ?? typeOf(base64)};base64,${base64}` }
  }
  const inline = format === 'b64_json' && base64 === undefined ? readDataUrl(url ?? '') : undefined
  return inline === undefined ? image : { ...rest, b64_json: inline.base64 }
}

/** The type of an image, from its first bytes in base64. */
function typeOf(base64: string): string {
  if (base64.startsWith('/9j/')) return 'jpeg'
  if (base64.startsWith('UklGR')) return 'webp'
  return base64.startsWith('R0lG') ? 'gif' : 'png'
}
