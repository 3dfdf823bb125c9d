import { pathOf } from '../../src/http/target.ts'

/**
 * Whether a request only asks if a server is there, as Claude Code does before its first call: HEAD on the mount path. At
 * the root, that path belongs to the host.
 */
export function isProbe(method: string | undefined, target: string, prefix: string): boolean {
  return method === 'HEAD' && prefix !== '' && pathOf(target) === prefix
}

/**
 * Whether a request is for the mount path itself, without a slash at its end. Hosts that remove the mount path leave the
 * same `/` of it as of a request with one.
 */
export function isMountPath(url: string, originalUrl: string): boolean {
  return (url === '/' || url.startsWith('/?')) && !/^[^?]*\/(?:$|\?)/.test(originalUrl)
}

/**
 * Normalises the mount path for adapters that strip it themselves: removes `/v1` and slashes from its end. Throws a
 * `TypeError` if it does not begin with a slash.
 */
export function mountPath(given: string, name: 'path' | 'prefix'): string {
  const path = given.replace(/(?:\/v1)?\/*$/, '')
  if (path === '' || path.startsWith('/')) return path
  throw new TypeError(`mount: the ${name} "${given}" must begin with "/"`)
}
