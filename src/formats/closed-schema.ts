import type { Fields } from '../wire/json.ts'

/** Deeper schemas are not examined. */
const maxDepth = 32

/**
 * Whether OpenAI can enforce a schema: every object lists its properties, requires all of them and allows no others. It
 * rejects any other schema that must be enforced.
 */
export function isClosed(schema: unknown, depth = 0): boolean {
  if (typeof schema !== 'object' || schema === null) return true
  if (depth > maxDepth) return false
  if (Array.isArray(schema)) return schema.every((each) => isClosed(each, depth + 1))
  const { type, properties, required, additionalProperties: others } = schema as Fields
  if (type === 'object' || properties !== undefined) {
    const names = Object.keys(Object(properties) as object)
    const needed = new Set(Array.isArray(required) ? required : [])
    if (others !== false || names.some((name) => !needed.has(name))) return false
  }
  // The values of `properties` are schemas; its own names are not keywords.
  const inner = Object.entries(schema as Fields).filter(([name]) => name !== 'properties' && name !== 'required')
  return [...Object.values(Object(properties) as object), ...inner.map(([, value]) => value)].every((each) =>
    isClosed(each, depth + 1),
  )
}
