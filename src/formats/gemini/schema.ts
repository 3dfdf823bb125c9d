/**
 * Translates JSON schemas. Next to a `$ref` the vendor accepts only keywords that begin with `$`. Source: the Gemini API
 * reference, Schema and FunctionDeclaration.
 */
import { definitionIn, type Schema } from '../../providers/reading/definitions.ts'
import { isRecord } from '../../wire/json.ts'

/** For `responseJsonSchema`: `const` becomes an `enum` with one value. Returns a new schema. */
export function answerSchema(schema: Schema): Schema {
  return rebuilt(schema, ({ const: only, ...out }) => refAlone(only === undefined ? out : { ...out, enum: [only] }))
}

/** For `parametersJsonSchema`, which must describe an object; undefined for an empty schema. */
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
  const { $ref: _, ...others } = schema
  // A second `anyOf` is not possible, so the other keywords are dropped.
  return Array.isArray(others['anyOf']) ? { $ref: ref } : { ...others, anyOf: [{ $ref: ref }] }
}

/** Keywords whose value is an object of named schemas. */
const holdsSchemas: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])
const isSchema: ReadonlySet<string> = new Set(['items', 'additionalProperties'])
const isList: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

/** Applies `change` to every schema in the tree, innermost first. */
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
