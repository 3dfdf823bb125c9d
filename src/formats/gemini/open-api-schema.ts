/** Schemas in Google's dialect of OpenAPI, as JSON schemas. */
import { isRecord, type Fields } from '../../wire/json.ts'
import { camelFields } from './fields.ts'

/** Deeper schemas are cut. */
const maxDepth = 100

/** Numbers that Google writes as strings. */
const counts: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])
const lists: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

export function jsonSchemaOf(schema: Fields, depth: number = 0): Fields {
  if (depth > maxDepth) return {}
  const out: Record<string, unknown> = {}
  const { nullable, ...fields } = camelFields(schema)
  for (const [name, value] of Object.entries(fields)) {
    // Only the order in which a model writes them, and a format that JSON schemas do not have.
    if (name === 'propertyOrdering' || value === undefined || (name === 'format' && value === 'enum')) continue
    if (name === 'example') out['examples'] = [value]
    else out[name] = inner(name, value, depth)
  }
  return nullable === true ? orNull(out) : out
}

function inner(name: string, value: unknown, depth: number): unknown {
  if (name === 'type' && typeof value === 'string') return value.toLowerCase()
  if (counts.has(name) && typeof value === 'string') return Number(value)
  if (name === 'properties' && isRecord(value)) {
    const each = ([key, schema]: [string, unknown]) => [
      key,
      isRecord(schema) ? jsonSchemaOf(schema, depth + 1) : schema,
    ]
    return Object.fromEntries(Object.entries(value).map(each))
  }
  if (name === 'items' && isRecord(value)) return jsonSchemaOf(value, depth + 1)
  if (lists.has(name) && Array.isArray(value))
    return value.map((each: unknown) => (isRecord(each) ? jsonSchemaOf(each, depth + 1) : each))
  return value
}

function orNull({ type, enum: values, anyOf, ...rest }: Record<string, unknown>): Fields {
  return {
    ...rest,
    ...(type !== undefined && { type: [type, 'null'] }),
    ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }),
    ...(Array.isArray(anyOf) && { anyOf: [...(anyOf as unknown[]), { type: 'null' }] }),
  }
}
