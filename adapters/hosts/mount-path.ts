/** Where a host mounts the gateway, as adapters are told it that take the path off the target themselves. */

/** Without what stands at its end: slashes, and the `/v1`. Throws a `TypeError` where there is no slash before it. */
export function mountPath(given: string, name: 'path' | 'prefix'): string {
  const path = given.replace(/(?:\/v1)?\/*$/, '')
  if (path === '' || path.startsWith('/')) return path
  throw new TypeError(`mount: the ${name} "${given}" must begin with "/"`)
}
