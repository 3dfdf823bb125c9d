/**
 * Normalises the mount path for adapters that strip it themselves: removes `/v1` and slashes from its end. Throws a
 * `TypeError` if it does not begin with a slash.
 */
export function mountPath(given: string, name: 'path' | 'prefix'): string {
  const path = given.replace(/(?:\/v1)?\/*$/, '')
  if (path === '' || path.startsWith('/')) return path
  throw new TypeError(`mount: the ${name} "${given}" must begin with "/"`)
}
