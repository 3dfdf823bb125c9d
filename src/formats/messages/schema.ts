/** Reduces a JSON schema to the keywords that the vendor enforces. */
import { isRecord } from '../../wire/json.ts'

/** Keywords that the vendor rejects, which move to the description. Source: `@ai-sdk/anthropic`. */
const described = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
] as const

const kept = ['$schema', '$id', '$ref', 'title', 'description', 'default', 'const', 'enum', 'type', 'required'] as const
const lists = ['anyOf', 'allOf', 'prefixItems'] as const
const maps = ['properties', '$defs', 'definitions'] as const
const formats = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])

/** Returns a new schema. */
export function strictSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const name of kept) if (schema[name] !== undefined) out[name] = schema[name]
  for (const name of lists) {
    const list = schema[name] ?? (name === 'anyOf' ? schema['oneOf'] : undefined)
    if (Array.isArray(list)) out[name] = list.map(inner)
  }
  for (const name of maps) {
    const map = schema[name]
    if (isRecord(map)) out[name] = Object.fromEntries(Object.entries(map).map(([key, value]) => [key, inner(value)]))
  }
  const { items, format } = schema
  if (items !== undefined) out['items'] = Array.isArray(items) ? items.map(inner) : inner(items)
  if (schema['type'] === 'object' || isRecord(schema['properties'])) out['additionalProperties'] = false
  if (typeof format === 'string' && formats.has(format)) out['format'] = format
  const notes: string[] = described
    .filter((name) => schema[name] !== undefined)
    .map((name) => noteOf(name, schema[name]))
  if (typeof format === 'string' && !formats.has(format)) notes.push(noteOf('format', format))
  if (notes.length > 0) {
    const description = schema['description']
    const text = `${notes.join('; ')}.`
    out['description'] = typeof description === 'string' ? `${description}\n${text}` : text
  }
  return out
}

function inner(schema: unknown): unknown {
  return isRecord(schema) ? strictSchema(schema) : schema
}

function noteOf(name: string, value: unknown): string {
  return `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`
}
