/** Data URLs (RFC 2397), read as forgivingly as browsers do. */

export interface InlineData {
  /** In small letters and without parameters, such as `image/png`. */
  readonly mediaType: string
  /** Base64 without white space. */
  readonly base64: string
}

/** Characters in front of the comma at most. */
const longestHead = 1_000

/**
 * `data:[type][;name=value …][;base64],data`. Parameters in any number and order, capitals, white space in the base64
 * and percent-encoded text are all in use. Undefined for anything that is no data URL.
 */
export function readDataUrl(url: string): InlineData | undefined {
  if (!/^data:/i.test(url)) return undefined
  const comma = url.slice(0, longestHead).indexOf(',')
  if (comma < 0) return undefined
  const [type = '', ...parameters] = url.slice(5, comma).split(';')
  const mediaType = type.trim().toLowerCase() || 'text/plain'
  const data = url.slice(comma + 1)
  const encoded = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')
  if (encoded) return { mediaType, base64: plainBase64(data.includes('%') ? unescape(data) : data) }
  return { mediaType, base64: Buffer.from(unescape(data), 'utf8').toString('base64') }
}

/** Base64 as vendors take it: the standard alphabet, without white space. */
export function plainBase64(data: string): string {
  // Natively: there may be megabytes of it, with something to replace everywhere.
  return /[\s_-]/.test(data) ? Buffer.from(data, 'base64').toString('base64') : data
}

function unescape(data: string): string {
  try {
    return decodeURIComponent(data)
  } catch {
    return data
  }
}
