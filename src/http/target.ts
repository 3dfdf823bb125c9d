/**
 * Parsing of the request target. Not left to the hosts, which disagree on case, decoding, dot segments and absolute
 * form.
 */

/** Whether the gateway handles a target: anything below `/v1` or `/v1beta`, whether or not such an endpoint exists. */
export function isBelowV1(target: string): boolean {
  const path = pathOf(target)
  // Other spellings (`//v1`, `/V1`) are claimed too, so that the client gets the gateway's 404.
  return path === '/v1' || path.startsWith('/v1/') || /^\/+v1(?:beta)?(?:\/|$)/i.test(path)
}

/** Whether a target belongs to Google's API: below `/v1beta`, or a method of a model below `/v1`. */
export function isGoogles(target: string): boolean {
  if (!target.includes('/v1beta') && !target.includes(':')) return false
  const path = pathOf(target)
  return /^\/v1beta(?:\/|$)/.test(path) || googleMethodIn(path) !== undefined
}

const googleMethod =
  /^\/v1(?:beta)?\/models\/(.+):(generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$/

/** The model and the method in a path of Google's API. Names of models may have colons, and slashes. */
export function googleMethodIn(path: string): { readonly model: string; readonly method: string } | undefined {
  const [, model, method] = googleMethod.exec(path) ?? []
  return model === undefined || method === undefined ? undefined : { model, method }
}

/** Whether a target belongs to Anthropic's Messages API: `/v1/messages` and what is below it. */
export function isMessages(target: string): boolean {
  return target.includes('/messages') && /^\/v1\/messages(?:\/|$)/.test(pathOf(target))
}

/** The path of a target without origin, query, dot segments and one trailing slash. Not decoded. */
export function pathOf(target: string): string {
  let path = target
  if (path.charCodeAt(0) !== 47 /* / */) {
    const origin = /^https?:\/\/[^/?#]*/i.exec(path)
    if (origin === null) return path
    path = path.slice(origin[0].length)
  }
  const query = path.indexOf('?')
  if (query >= 0) path = path.slice(0, query)
  if (path.includes('/.')) path = withoutDots(path)
  if (path.length > 1 && path.endsWith('/')) path = path.slice(0, -1)
  return path
}

/** The query parameters of a target. */
export function queryOf(target: string): URLSearchParams {
  const query = target.indexOf('?')
  return new URLSearchParams(query < 0 ? '' : target.slice(query + 1))
}

/** Percent-decodes a path segment or the rest of a path; undefined if the encoding is invalid. */
export function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** Removes dot segments (RFC 3986, 5.2.4). Percent-encoded dots are ordinary characters. */
function withoutDots(path: string): string {
  const kept: string[] = []
  const segments = path.split('/').slice(1)
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
    if (last && (segment === '.' || segment === '..')) kept.push('')
  }
  return `/${kept.join('/')}`
}
