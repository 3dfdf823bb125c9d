/**
 * JSON schema → a value that conforms to it: required members, enums, bounds, formats, patterns, references. What the
 * question says about a value is used where it fits. Not looked at: `not`, `if`, `dependent…`, `contains`.
 */
import type { Spending } from './budget.ts'
import type { Hints } from './hints.ts'
import { choose, ResolvedSchema, SchemaReader, typeOf, type Schema } from './schema.ts'
import { sampleNumber } from './sample-number.ts'
import { sampleString } from './sample-string.ts'

/** From this depth on only what is required is given, so that a schema that contains itself comes to an end. */
const terseDepth = 5

/** Throws 400 for a schema that takes or asks for more than the budget has. */
export function sample(schema: Schema, hints: Hints, spending: Spending): unknown {
  return new Sampler(schema, hints, spending).value(schema, '', 0, 0)
}

interface Choice {
  /** The one that the question mentions. */
  readonly named: unknown
  readonly telling: readonly unknown[]
}

class Sampler {
  readonly #schemas: SchemaReader
  readonly #hints: Hints
  readonly #spending: Spending
  readonly #choices = new Map<readonly unknown[], Choice>()

  constructor(root: Schema, hints: Hints, spending: Spending) {
    this.#schemas = new SchemaReader(root, spending, (alternatives, depth) => choose(alternatives, depth >= terseDepth))
    this.#hints = hints
    this.#spending = spending
  }

  /** `nth` tells the items of a list from each other. */
  value(raw: Schema, name: string, depth: number, nth: number): unknown {
    const schema = this.#schemas.resolve(raw, depth)
    const { keywords } = schema
    if ('const' in keywords) return this.#spending.whole(keywords['const'])
    if (Array.isArray(keywords['enum'])) return this.#spending.whole(this.#oneOf(keywords['enum'], nth, depth))
    this.#spending.value()
    const type = typeOf(keywords)
    switch (type) {
      case 'object':
        return this.#object(schema, name, depth)
      case 'array':
        return this.#array(schema, name, depth)
      case 'integer':
      case 'number':
        return sampleNumber(keywords, type === 'integer', this.#hints, name, nth)
      case 'boolean':
        return this.#hints.named(name) === 'false' ? false : nth % 2 === 0
      case 'null':
        return null
      default:
        return this.#string(keywords, name, depth, nth)
    }
  }

  #string(keywords: ResolvedSchema['keywords'], name: string, depth: number, nth: number): string {
    const { pattern } = keywords
    if (typeof pattern === 'string') this.#spending.step(Math.min(pattern.length, 2_000), depth)
    const text = sampleString(keywords, this.#hints, name, nth)
    this.#spending.text(text.length)
    return text
  }

  #oneOf(values: readonly unknown[], nth: number, depth: number): unknown {
    let choice = this.#choices.get(values)
    if (choice === undefined) {
      this.#spending.step(values.length, depth)
      const named = values.find((value) => typeof value === 'string' && this.#hints.mentions(value))
      this.#choices.set(values, (choice = { named, telling: values.filter((value) => value !== null) }))
    }
    const { named, telling } = choice
    if (named !== undefined && nth === 0) return named
    return telling[nth % Math.max(telling.length, 1)] ?? null
  }

  #object(schema: ResolvedSchema, above: string, depth: number): Record<string, unknown> {
    const { keywords, properties, required } = schema
    const others = (keywords['additionalProperties'] ?? true) as Schema
    const names = new Set(required ?? (depth < terseDepth ? properties.keys() : []))
    for (const name of properties.keys()) if (this.#hints.named(name) !== undefined) names.add(name)
    const least = Number(keywords['minProperties'] ?? 0)
    for (const name of properties.keys()) if (names.size < least) names.add(name)
    for (let more = 1; names.size < least; more++) {
      this.#spending.step(1, depth)
      names.add(`key${more}`)
    }
    const entries: [name: string, value: unknown][] = []
    for (const name of names) {
      this.#spending.text(name.length)
      entries.push([name, this.value(properties.get(name) ?? others, name || above, depth + 1, 0)])
    }
    return Object.fromEntries(entries)
  }

  #array({ keywords }: ResolvedSchema, name: string, depth: number): unknown[] {
    const { prefixItems, items } = keywords
    const first = (Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []) as Schema[]
    const rest = Array.isArray(items) ? true : ((items ?? true) as Schema)
    const most = rest === false ? first.length : Number(keywords['maxItems'] ?? Infinity)
    const least = Math.max(Number(keywords['minItems'] ?? 0), Math.min(first.length, most))
    const usual = first.length > 0 ? 0 : usualLength(this.#schemas.resolve(rest, depth + 1), depth)
    const count = Math.min(most, Math.max(least, usual))
    const list: unknown[] = []
    for (let nth = 0; nth < count; nth++) list.push(this.value(first[nth] ?? rest, name, depth + 1, nth))
    return list
  }
}

/** Lists of plain values are longer than lists of things with parts. */
function usualLength({ keywords }: ResolvedSchema, depth: number): number {
  if (depth >= terseDepth) return 0
  const type = typeOf(keywords)
  if (type === 'object' || type === 'array') return 2
  return Array.isArray(keywords['enum']) ? Math.min(keywords['enum'].length, 4) : 4
}
