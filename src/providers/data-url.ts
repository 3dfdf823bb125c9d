/** Parses data URLs (RFC 2397) as leniently as browsers do. */

export interface InlineData {
  /** In lower case and without parameters, such as `image/png`. */
  readonly mediaType: string
  /** Base64 without white space. */
  readonly base64: string
}

/** Maximum number of characters before the comma. */
const maxHeadLength = 1_000

/**
 * Parses `data:[type][;name=value …][;base64],data`; undefined if it is not a data URL. Accepts what clients send: any
 * parameters in any order, upper case, white space in the base64, and percent-encoding.
 */
export function readDataUrl(url: string): InlineData | undefined {
  if (!/^data:/i.test(url)) return undefined
  const comma = url.slice(0, maxHeadLength).indexOf(',')
  if (comma < 0) return undefined
  const [type = '', ...parameters] = url.slice(5, comma).split(';')
  const mediaType = type.trim().toLowerCase() || 'text/plain'
  const data = url.slice(comma + 1)
  const encoded = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')
  if (encoded) return { mediaType, base64: plainBase64(data.includes('%') ? decoded(data) : data) }
  return { mediaType, base64: Buffer.from(decoded(data), 'utf8').toString('base64') }
}

export function dataUrlOf({ mediaType, base64 }: InlineData): string {
  return `data:${mediaType};base64,${base64}`
}

/** Converts base64 to the standard alphabet without white space, which all vendors accept. */
export function plainBase64(data: string): string {
  // Decoding and encoding is native, and faster than replacing characters in megabytes of text.
  return /[\s_-]/.test(data) ? Buffer.from(data, 'base64').toString('base64') : data
}

/** Without percent-encoding, unless that is broken. */
export function decoded(data: string): string {
  try {
    return decodeURIComponent(data)
  } catch {
    return data
  }
}
