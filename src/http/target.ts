/**
 * The request target, parsed once and by us: the hosts disagree on case, decoding, dot segments and absolute form.
 */

/** True when the target lies below `/v1`, whatever it names there: those requests are answered by the gateway. */
export function isBelowV1(target: string): boolean {
  const path = pathOf(target)
  // Other spellings are served nowhere, but it is the gateway that says so.
  return path === '/v1' || path.startsWith('/v1/') || /^\/+v1(?:\/|$)/i.test(path)
}

/** The path of a target: without origin, query and dot segments, one trailing slash forgiven, nothing decoded. */
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

/** The query of a target. */
export function queryOf(target: string): URLSearchParams {
  const query = target.indexOf('?')
  return new URLSearchParams(query < 0 ? '' : target.slice(query + 1))
}

/** One path segment, or the rest of a path, decoded once; undefined where the encoding is broken. */
export function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** RFC 3986, 5.2.4. Encoded dots are ordinary characters here: they never leave the segment they stand in. */
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
