/**
 * Creates a value that conforms to a JSON schema: required members, enums, bounds, formats, references. Values
 * from the question are used if they conform. Ignored keywords: `pattern`, `not`, `if`, `dependent…`, `contains`.
 */
import type { Spending } from './budget.ts'
import type { Hints } from './hints.ts'
import { choose, ResolvedSchema, SchemaReader, typeOf, type Schema } from './schema.ts'
import { sampleNumber } from './sample-number.ts'
import { sampleString } from './sample-string.ts'

/** From this depth on, only required members are created, so that recursion in a schema ends. */
const terseDepth = 5

/** Throws a 400 for a schema that exceeds the budget. */
export function sample(schema: Schema, hints: Hints, spending: Spending): unknown {
  return new Sampler(schema, hints, spending).value(schema, '', 0, 0)
}

interface Choice {
  /** The value that the question mentions. */
  readonly named: unknown
  readonly nonNull: readonly unknown[]
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

  /** `nth`: the index in a list, which makes its items different. */
  value(raw: Schema, name: string, depth: number, nth: number): unknown {
    const schema = this.#schemas.resolve(raw, depth)
    const { keywords } = schema
    if ('const' in keywords) return this.#spending.copy(keywords['const'])
    if (Array.isArray(keywords['enum'])) return this.#spending.copy(this.#oneOf(keywords['enum'], nth, depth))
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
        return this.#string(keywords, name, nth)
    }
  }

  #string(keywords: ResolvedSchema['keywords'], name: string, nth: number): string {
    const text = sampleString(keywords, this.#hints, name, nth)
    this.#spending.text(text.length)
    return text
  }

  #oneOf(values: readonly unknown[], nth: number, depth: number): unknown {
    let choice = this.#choices.get(values)
    if (choice === undefined) {
      this.#spending.step(values.length, depth)
      const named = values.find((value) => typeof value === 'string' && this.#hints.mentions(value))
      this.#choices.set(values, (choice = { named, nonNull: values.filter((value) => value !== null) }))
    }
    const { named, nonNull } = choice
    if (named !== undefined && nth === 0) return named
    return nonNull[nth % Math.max(nonNull.length, 1)] ?? null
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

/** The default length of a list: longer for primitive values than for objects and lists. */
function usualLength({ keywords }: ResolvedSchema, depth: number): number {
  if (depth >= terseDepth) return 0
  const type = typeOf(keywords)
  if (type === 'object' || type === 'array') return 2
  return Array.isArray(keywords['enum']) ? Math.min(keywords['enum'].length, 4) : 4
}
