/**
 * JSON schemas as the vendor takes them. Nothing may stand beside a `$ref` but what begins with `$`. Source: the Gemini
 * API reference, Schema and FunctionDeclaration.
 */
import { definitionIn } from '../reading/definitions.ts'
import { isRecord } from '../reading/parts.ts'

type Schema = Readonly<Record<string, unknown>>

/** For `responseJsonSchema`: without `const`, which becomes an `enum` of one. A new schema; the caller's is not touched. */
export function answerSchema(schema: Schema): Schema {
  return rebuilt(schema, ({ const: only, ...out }) => refAlone(only === undefined ? out : { ...out, enum: [only] }))
}

/** For `parametersJsonSchema`, which is that of an object; undefined for one that says nothing. */
export function parametersSchema(schema: Schema): Schema | undefined {
  if (Object.keys(schema).length === 0) return undefined
  const { type, $ref: ref, ...rest } = schema
  const target = typeof ref === 'string' ? definitionIn(schema, ref) : undefined
  const top = isRecord(target) ? { ...target, ...rest } : schema
  const object = Array.isArray(type) ? type.includes('object') : type === undefined && isRecord(top['properties'])
  return rebuilt(object ? { ...top, type: 'object' } : top, refAlone)
}

function refAlone(schema: Schema): Schema {
  const { $ref: ref } = schema
  if (ref === undefined || Object.keys(schema).every((name) => name.startsWith('$'))) return schema
  const { $ref: _, ...beside } = schema
  // Where there is a choice already, one more would change what it means.
  return Array.isArray(beside['anyOf']) ? { $ref: ref } : { ...beside, anyOf: [{ $ref: ref }] }
}

/** Keywords whose value is an object of schemas by name. */
const holdsSchemas: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])
const isSchema: ReadonlySet<string> = new Set(['items', 'additionalProperties'])
const isList: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

/** Each schema in it changed, the innermost first. */
function rebuilt(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const inner = (value: unknown) => (isRecord(value) ? rebuilt(value, change) : value)
  const within = (name: string, value: unknown): unknown => {
    if (isSchema.has(name)) return inner(value)
    if (isList.has(name)) return Array.isArray(value) ? value.map(inner) : value
    if (!holdsSchemas.has(name) || !isRecord(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inner(each)]))
  }
  return change(Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, within(name, value)])))
}
