/** A JSON schema as `responseJsonSchema` takes it: without `const`, which becomes an `enum` of one. */
import { isRecord } from '../reading/parts.ts'

/** A new schema; the caller's is not touched. */
export function answerSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { const: only, ...out } = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, holdsSchemas.has(name) ? each(value) : within(name, value)]),
  )
  return only === undefined ? out : { ...out, enum: [only] }
}

/** Keywords whose value is an object of schemas by name. */
const holdsSchemas: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])
const isSchema: ReadonlySet<string> = new Set(['items', 'additionalProperties'])
const isList: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

function each(value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, inner(schema)]))
}

function within(name: string, value: unknown): unknown {
  if (isSchema.has(name)) return inner(value)
  return isList.has(name) && Array.isArray(value) ? value.map(inner) : value
}

function inner(schema: unknown): unknown {
  return isRecord(schema) ? answerSchema(schema) : schema
}
