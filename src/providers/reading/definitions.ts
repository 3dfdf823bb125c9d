/** The definitions of a JSON schema, which a `$ref` in it may name. */
import { isRecord } from './parts.ts'

/** Undefined for a reference to anything but a definition at the top of the schema. */
export function definitionIn(root: Readonly<Record<string, unknown>>, ref: string): unknown {
  const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? []
  const map = root[place]
  const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
  return isRecord(map) && Object.hasOwn(map, key) ? map[key] : undefined
}
