/** Resolves a JSON schema: follows references, chooses one alternative, and merges combined schemas. */
import type { Spending } from './budget.ts'

export type Schema = boolean | SchemaObject
export interface SchemaObject {
  readonly [keyword: string]: unknown
}

export class ResolvedSchema {
  /** The keywords of all parts; the first part with a keyword wins. */
  readonly keywords: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  readonly properties: Map<string, Schema> = new Map()
  /** Undefined if no part has `required`. */
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
    const resolved = new ResolvedSchema()
    this.#add(schema, depth, resolved)
    return resolved
  }

  #add(schema: unknown, depth: number, resolved: ResolvedSchema): void {
    this.#spending.step(1, depth)
    if (typeof schema !== 'object' || schema === null) return
    const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema as SchemaObject
    for (const [keyword, value] of Object.entries(own))
      if (!(keyword in resolved.keywords)) resolved.keywords[keyword] = value
    this.#addMembers(own, depth, resolved)
    if (typeof reference === 'string') this.#add(this.#follow(reference, depth), depth + 1, resolved)
    if (Array.isArray(allOf)) for (const part of allOf) this.#add(part, depth + 1, resolved)
    for (const alternatives of [anyOf, oneOf]) {
      if (!Array.isArray(alternatives) || alternatives.length === 0) continue
      this.#spending.step(alternatives.length, depth)
      this.#add(this.#choose(alternatives as Schema[], depth), depth + 1, resolved)
    }
  }

  #addMembers({ properties, required }: SchemaObject, depth: number, resolved: ResolvedSchema): void {
    if (typeof properties === 'object' && properties !== null) {
      const members = Object.entries(properties)
      this.#spending.step(members.length, depth)
      for (const [name, member] of members)
        if (!resolved.properties.has(name)) resolved.properties.set(name, member as Schema)
    }
    if (!Array.isArray(required)) return
    this.#spending.step(required.length, depth)
    resolved.required ??= new Set()
    for (const name of required) resolved.required.add(String(name))
  }

  /** Follows a reference such as `#/$defs/Node`. One to another document allows any value. */
  #follow(reference: string, depth: number): Schema {
    const known = this.#referred.get(reference)
    if (known !== undefined) return known
    let target: unknown = reference.startsWith('#') ? this.#root : {}
    const steps = reference.split('/').slice(1)
    this.#spending.step(steps.length, depth)
    for (const step of steps) {
      const key = decode(step)
      target =
        typeof target === 'object' && target !== null && Object.hasOwn(target, key) ? Reflect.get(target, key) : {}
    }
    this.#referred.set(reference, target as Schema)
    return target as Schema
  }
}

/** The first alternative that is not null. `end`: prefers null or a primitive, to end recursion. */
export function choose(given: readonly Schema[], end: boolean): Schema {
  const alternatives = given.filter((each) => typeof each === 'object' && each !== null)
  const isNull = alternatives.find(({ type }) => type === 'null')
  const plain = alternatives.find((each) => !('$ref' in each) && typeOf(each) !== 'object')
  const nonNull = alternatives.find((each) => each !== isNull)
  return (end ? (isNull ?? plain) : nonNull) ?? alternatives[0] ?? true
}

const keywordTypes: readonly (readonly [type: string, ...keywords: readonly string[]])[] = [
  ['object', 'properties', 'required', 'additionalProperties'],
  ['array', 'items', 'prefixItems', 'minItems'],
  ['number', 'minimum', 'maximum', 'multipleOf'],
]

/** The declared type, the first of several that is not null, or the one that the keywords imply. */
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
