/** Resolves references within a JSON schema. */
import { isRecord, type Fields } from '../../wire/json.ts'

/** A JSON schema that is not `true` or `false`. */
export type Schema = Fields

/** The definition that a `$ref` names; undefined if it is not one of the top-level definitions. */
export function definitionIn(root: Schema, ref: string): unknown {
  const [, keyword = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? []
  const map = root[keyword]
  const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
  return isRecord(map) && Object.hasOwn(map, key) ? map[key] : undefined
}
