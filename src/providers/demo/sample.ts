/**
 * JSON schema → a value that conforms to it: required members, enums, bounds, formats, patterns, references. What the
 * question says about a value is used where it fits. Not looked at: `not`, `if`, `dependent…`, `contains`.
 */
import { invalid } from '../../errors.ts'
import type { Hints } from './hints.ts'
import { sampleNumber } from './sample-number.ts'
import { sampleString } from './sample-string.ts'

export type Schema = boolean | SchemaObject
export interface SchemaObject {
  readonly [keyword: string]: unknown
}

/** Values of one answer at most: a schema is a stranger's, and may ask for very many, or for some without end. */
const mostValues = 1_000
/** From this depth on only what is required is given, so that a schema that contains itself comes to an end. */
const terseDepth = 5

export function sample(schema: Schema, hints: Hints, name = ''): unknown {
  return new Sampler(schema, hints).value(schema, name, 0, 0)
}

class Sampler {
  readonly #root: Schema
  readonly #hints: Hints
  #values = 0

  constructor(root: Schema, hints: Hints) {
    this.#root = root
    this.#hints = hints
  }

  /** `nth` tells the items of a list from each other. */
  value(raw: Schema, name: string, depth: number, nth: number): unknown {
    this.#spend()
    const schema = this.#resolve(raw, depth)
    if ('const' in schema) return schema['const']
    if (Array.isArray(schema['enum'])) return this.#oneOf(schema['enum'], nth)
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, name, depth)
      case 'array':
        return this.#array(schema, name, depth)
      case 'integer':
      case 'number':
        return sampleNumber(schema, typeOf(schema) === 'integer', this.#hints, name, nth)
      case 'boolean':
        return this.#hints.named(name) === 'false' ? false : nth % 2 === 0
      case 'null':
        return null
      default:
        return sampleString(schema, this.#hints, name, nth)
    }
  }

  #spend(): void {
    if (++this.#values > mostValues) throw invalid(`A JSON schema asks for more than ${mostValues} values.`)
  }

  /** The schema with its references followed, one alternative chosen, and everything it combines in one object. */
  #resolve(raw: Schema, depth: number): SchemaObject {
    if (typeof raw !== 'object' || raw === null) return {}
    const { $ref: reference, allOf, anyOf, oneOf, ...own } = raw
    let whole: SchemaObject = own
    const add = (part: unknown) => {
      this.#spend()
      whole = merge(this.#resolve(part as Schema, depth + 1), whole)
    }
    if (typeof reference === 'string') add(this.#referred(reference))
    if (Array.isArray(allOf)) allOf.forEach(add)
    for (const alternatives of [anyOf, oneOf]) {
      if (Array.isArray(alternatives) && alternatives.length > 0) add(choose(alternatives as Schema[], depth))
    }
    return whole
  }

  /** `#/$defs/Node`. Other documents are not read: anything goes there. */
  #referred(reference: string): unknown {
    if (!reference.startsWith('#')) return {}
    let place: unknown = this.#root
    for (const step of reference.split('/').slice(1)) {
      const key = decode(step)
      place = typeof place === 'object' && place !== null && Object.hasOwn(place, key) ? Reflect.get(place, key) : {}
    }
    return place
  }

  #oneOf(values: readonly unknown[], nth: number): unknown {
    const named = values.find((value) => typeof value === 'string' && this.#hints.mentions(value))
    if (named !== undefined && nth === 0) return named
    const telling = values.filter((value) => value !== null)
    return telling[nth % Math.max(telling.length, 1)] ?? null
  }

  #object(schema: SchemaObject, above: string, depth: number): Record<string, unknown> {
    const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>
    const others = (schema['additionalProperties'] ?? true) as Schema
    const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]).map(String) : undefined
    const names = new Set(required ?? (depth < terseDepth ? Object.keys(properties) : []))
    for (const name of Object.keys(properties)) if (this.#hints.named(name) !== undefined) names.add(name)
    for (let more = 1; names.size < Number(schema['minProperties'] ?? 0); more++) {
      this.#spend()
      names.add(Object.keys(properties).find((name) => !names.has(name)) ?? `key${more}`)
    }
    const entries = [...names].map((name) => {
      const property = Object.hasOwn(properties, name) ? (properties[name] as Schema) : others
      return [name, this.value(property, name || above, depth + 1, 0)] as const
    })
    return Object.fromEntries(entries)
  }

  #array(schema: SchemaObject, name: string, depth: number): unknown[] {
    const { prefixItems, items } = schema
    const first = (Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []) as Schema[]
    const rest = Array.isArray(items) ? true : ((items ?? true) as Schema)
    const least = Math.max(
      Number(schema['minItems'] ?? 0),
      Math.min(first.length, Number(schema['maxItems'] ?? Infinity)),
    )
    const most = rest === false ? first.length : Number(schema['maxItems'] ?? Infinity)
    const count = Math.min(most, Math.max(least, first.length > 0 ? 0 : usualLength(this.#resolve(rest, depth), depth)))
    const list: unknown[] = []
    for (let nth = 0; nth < count; nth++) list.push(this.value(first[nth] ?? rest, name, depth + 1, nth))
    return list
  }
}

/** Lists of plain values are longer than lists of things with parts. */
function usualLength(items: SchemaObject, depth: number): number {
  if (depth >= terseDepth) return 0
  const type = typeOf(items)
  if (type === 'object' || type === 'array') return 2
  return Array.isArray(items['enum']) ? Math.min(items['enum'].length, 4) : 4
}

/** The first alternative that says something; where the nesting is deep, one that ends it. */
function choose(given: readonly Schema[], depth: number): Schema {
  const alternatives = given.filter((each) => typeof each === 'object' && each !== null)
  const ends = alternatives.find(({ type }) => type === 'null')
  const plain = alternatives.find((each) => !('$ref' in each) && typeOf(each) !== 'object')
  const telling = alternatives.find((each) => each !== ends)
  return (depth >= terseDepth ? (ends ?? plain) : telling) ?? alternatives[0] ?? true
}

function merge(part: SchemaObject, whole: SchemaObject): SchemaObject {
  const properties = { ...(part['properties'] as object | undefined), ...(whole['properties'] as object | undefined) }
  const required = [part['required'], whole['required']].filter(Array.isArray).flat()
  return {
    ...part,
    ...whole,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...((part['required'] ?? whole['required']) !== undefined && { required }),
  }
}

const keywordTypes: readonly (readonly [keyword: string, type: string])[] = [
  ['properties', 'object'],
  ['required', 'object'],
  ['additionalProperties', 'object'],
  ['items', 'array'],
  ['prefixItems', 'array'],
  ['minItems', 'array'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['multipleOf', 'number'],
]

/** The type that is stated, the first of several, or the one that the keywords are about. */
function typeOf(schema: SchemaObject): string {
  const { type } = schema
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return String(type.find((each) => each !== 'null') ?? type[0])
  return keywordTypes.find(([keyword]) => keyword in schema)?.[1] ?? 'string'
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}
