/** A JSON schema with its references followed, one alternative chosen, and everything it combines in one place. */
import type { Spending } from './budget.ts'

export type Schema = boolean | SchemaObject
export interface SchemaObject {
  readonly [keyword: string]: unknown
}

export class ResolvedSchema {
  /** Of a keyword that stands in several parts the first one, but for those that are combined. */
  readonly keywords: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  readonly properties: Map<string, Schema> = new Map()
  /** Undefined where no part names any. */
  required: Set<string> | undefined
}

export class SchemaReader {
  readonly #root: Schema
  readonly #spending: Spending
  readonly #choose: (alternatives: readonly Schema[], depth: number) => Schema
  readonly #referred = new Map<string, Schema>()

  constructor(root: Schema, spending: Spending, pick: (alternatives: readonly Schema[], depth: number) => Schema) {
    this.#root = root
    this.#spending = spending
    this.#choose = pick
  }

  resolve(schema: Schema, depth: number): ResolvedSchema {
    const whole = new ResolvedSchema()
    this.#add(schema, depth, whole)
    return whole
  }

  #add(schema: unknown, depth: number, whole: ResolvedSchema): void {
    this.#spending.step(1, depth)
    if (typeof schema !== 'object' || schema === null) return
    const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema as SchemaObject
    for (const [keyword, value] of Object.entries(own))
      if (!(keyword in whole.keywords)) whole.keywords[keyword] = value
    this.#addMembers(own, depth, whole)
    if (typeof reference === 'string') this.#add(this.#follow(reference, depth), depth + 1, whole)
    if (Array.isArray(allOf)) for (const part of allOf) this.#add(part, depth + 1, whole)
    for (const alternatives of [anyOf, oneOf]) {
      if (!Array.isArray(alternatives) || alternatives.length === 0) continue
      this.#spending.step(alternatives.length, depth)
      this.#add(this.#choose(alternatives as Schema[], depth), depth + 1, whole)
    }
  }

  #addMembers({ properties, required }: SchemaObject, depth: number, whole: ResolvedSchema): void {
    if (typeof properties === 'object' && properties !== null) {
      const members = Object.entries(properties)
      this.#spending.step(members.length, depth)
      for (const [name, member] of members)
        if (!whole.properties.has(name)) whole.properties.set(name, member as Schema)
    }
    if (!Array.isArray(required)) return
    this.#spending.step(required.length, depth)
    whole.required ??= new Set()
    for (const name of required) whole.required.add(String(name))
  }

  /** `#/$defs/Node`. Other documents are not read: anything goes there. */
  #follow(reference: string, depth: number): Schema {
    const known = this.#referred.get(reference)
    if (known !== undefined) return known
    let place: unknown = reference.startsWith('#') ? this.#root : {}
    const steps = reference.split('/').slice(1)
    this.#spending.step(steps.length, depth)
    for (const step of steps) {
      const key = decode(step)
      place = typeof place === 'object' && place !== null && Object.hasOwn(place, key) ? Reflect.get(place, key) : {}
    }
    this.#referred.set(reference, place as Schema)
    return place as Schema
  }
}

/** The first alternative that says something; where it has to `end`, one that has no parts. */
export function choose(given: readonly Schema[], end: boolean): Schema {
  const alternatives = given.filter((each) => typeof each === 'object' && each !== null)
  const ends = alternatives.find(({ type }) => type === 'null')
  const plain = alternatives.find((each) => !('$ref' in each) && typeOf(each) !== 'object')
  const telling = alternatives.find((each) => each !== ends)
  return (end ? (ends ?? plain) : telling) ?? alternatives[0] ?? true
}

const keywordTypes: readonly (readonly [type: string, ...keywords: readonly string[]])[] = [
  ['object', 'properties', 'required', 'additionalProperties'],
  ['array', 'items', 'prefixItems', 'minItems'],
  ['number', 'minimum', 'maximum', 'multipleOf'],
]

/** The type that is stated, the first of several, or the one that the keywords are about. */
export function typeOf(schema: SchemaObject): string {
  const { type } = schema
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return String(type.find((each) => each !== 'null') ?? type[0])
  return keywordTypes.find(([, ...keywords]) => keywords.some((keyword) => keyword in schema))?.[0] ?? 'string'
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}
