/**
 * Makes a JSON value that fits a schema, with values of the question where they fit. Ignored keywords: `pattern`, `not`,
 * `if`, `dependent…`, `contains`.
 */
import type { Hints } from './hints.ts'
import { newBudget, SchemaReader, typeOf, type Fields, type Merged } from './schema.ts'

/** From this depth on, only what is required is made, so that recursion in a schema ends. */
const terseDepth = 5
/** Characters of a text. */
const maxText = 2_000

/** Throws 400 for a schema beyond the budget, which several schemas of a request share. */
export function fitting(schema: unknown, hints: Hints, budget: { steps: number } = newBudget()): unknown {
  return new Fitting(new SchemaReader(schema, budget), hints).value(schema, '', 0, 0)
}

class Fitting {
  readonly #reader: SchemaReader
  readonly #hints: Hints
  /** The value of each enum that the question mentions. */
  readonly #mentioned = new Map<readonly unknown[], unknown>()
  /** The question, for texts about it. */
  readonly #about: string

  constructor(reader: SchemaReader, hints: Hints) {
    this.#reader = reader
    this.#hints = hints
    const about = hints.question.replace(/\s+/g, ' ').slice(0, 60)
    this.#about = about === '' ? '' : ` for "${about}"`
  }

  /** `nth`: the place in a list, whose items differ. */
  value(raw: unknown, name: string, depth: number, nth: number): unknown {
    const schema = this.#reader.merged(raw, depth, depth >= terseDepth)
    const { keywords } = schema
    if ('const' in keywords) return this.#copy(keywords['const'])
    if (Array.isArray(keywords['enum'])) return this.#copy(this.#oneOf(keywords['enum'], nth))
    const type = typeOf(keywords)
    switch (type) {
      case 'object':
        return this.#object(schema, name, depth)
      case 'array':
        return this.#array(keywords, name, depth)
      case 'integer':
      case 'number':
        return this.#number(keywords, type === 'integer', name, nth)
      case 'boolean':
        return this.#hints.named(name) === 'false' ? false : nth % 2 === 0
      case 'null':
        return null
      default:
        return this.#text(keywords, name, nth)
    }
  }

  #copy(value: unknown): unknown {
    this.#reader.spend(1)
    if (typeof value === 'string') this.#reader.spend(value.length / 8)
    else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) this.#copy(each)
    return value
  }

  #oneOf(values: readonly unknown[], nth: number): unknown {
    if (!this.#mentioned.has(values)) {
      this.#reader.spend(values.length)
      this.#mentioned.set(
        values,
        values.find((value) => this.#hints.mentions(value)),
      )
    }
    const mentioned = this.#mentioned.get(values)
    if (mentioned !== undefined && nth === 0) return mentioned
    const value = values[nth % Math.max(values.length, 1)]
    return value ?? values[(nth + 1) % Math.max(values.length, 1)] ?? null
  }

  #object({ keywords, properties, required }: Merged, above: string, depth: number): Fields {
    const names = new Set(required ?? (depth < terseDepth ? properties.keys() : []))
    for (const name of properties.keys()) if (this.#hints.named(name) !== undefined) names.add(name)
    const least = Number(keywords['minProperties'] ?? 0)
    for (const name of properties.keys()) if (names.size < least) names.add(name)
    for (let more = 1; names.size < least; more++) {
      this.#reader.spend(1)
      names.add(`key${more}`)
    }
    const entries: [name: string, value: unknown][] = []
    for (const name of names) {
      this.#reader.spend(name.length / 8)
      const member = properties.get(name) ?? keywords['additionalProperties'] ?? true
      entries.push([name, this.value(member, name || above, depth + 1, 0)])
    }
    return Object.fromEntries(entries)
  }

  #array(keywords: Fields, name: string, depth: number): unknown[] {
    const { prefixItems, items } = keywords
    const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
    const rest = Array.isArray(items) ? true : (items ?? true)
    const most = rest === false ? first.length : Number(keywords['maxItems'] ?? Infinity)
    const least = Math.max(Number(keywords['minItems'] ?? 0), Math.min(first.length, most))
    const count = Math.min(most, Math.max(least, first.length > 0 ? 0 : this.#usualLength(rest, depth)))
    const list: unknown[] = []
    for (let nth = 0; nth < count; nth++) list.push(this.value(first[nth] ?? rest, name, depth + 1, nth))
    return list
  }

  #usualLength(items: unknown, depth: number): number {
    if (depth >= terseDepth) return 0
    const { keywords } = this.#reader.merged(items, depth + 1, false)
    if (Array.isArray(keywords['enum'])) return Math.min(keywords['enum'].length, 4)
    return ['object', 'array'].includes(typeOf(keywords)) ? 2 : 4
  }

  #text(keywords: Fields, name: string, nth: number): string {
    const { format: given, minLength, maxLength } = keywords
    const format = typeof given === 'string' ? given.replace(/^idn-/, '').replace(/^iri/, 'uri') : ''
    if (Object.hasOwn(formats, format)) return formats[format] as string
    const hint = nth === 0 ? (this.#hints.named(name) ?? this.#hints.guess(name)) : undefined
    const least = Math.min(Math.ceil(Math.max(numberOr(minLength, 0), 0)), maxText)
    const most = Math.min(numberOr(maxLength, maxText) < 0 ? maxText : numberOr(maxLength, maxText), maxText)
    const text = (hint ?? `${phrase(name, nth)}${this.#about}`).padEnd(least, '.').slice(0, most)
    this.#reader.spend(text.length / 8)
    return text
  }

  /** A number of the question if it fits, else the nearest to 12; the items of a list count from there. */
  #number(keywords: Fields, isInteger: boolean, name: string, nth: number): number {
    const { least, most, step } = boundsOf(keywords, isInteger)
    const named = Number(this.#hints.named(name) ?? NaN)
    const hint = Number.isFinite(named) ? named : nth === 0 ? this.#hints.nextNumber() : undefined
    const fits = hint !== undefined && hint >= least && hint <= most && (step === 0 || Number.isInteger(hint / step))
    if (fits) return hint
    const stride = step || 1
    const nearest = Math.min(Math.max(12, least), most)
    const onStep = step === 0 ? nearest : Math.ceil(nearest / step) * step
    const first = onStep <= most ? onStep : onStep - stride
    const above = Math.floor((most - first) / stride)
    return Math.max(nth <= above ? first + nth * stride : first - (nth - above) * stride, Math.min(least, first))
  }
}

/** `step`: `multipleOf`, or 0 for none. */
function boundsOf(keywords: Fields, isInteger: boolean): { least: number; most: number; step: number } {
  const given = Math.abs(numberOr(keywords['multipleOf'], 0))
  const step = isInteger && !(Number.isInteger(given) && given > 0) ? 1 : given
  const [least, most] = [numberOr(keywords['minimum'], -Infinity), numberOr(keywords['maximum'], Infinity)]
  const { exclusiveMinimum, exclusiveMaximum } = keywords
  // Up to draft 4, the exclusive bounds are booleans that modify the inclusive ones.
  const above = exclusiveMinimum === true ? least : numberOr(exclusiveMinimum, -Infinity)
  const below = exclusiveMaximum === true ? most : numberOr(exclusiveMaximum, Infinity)
  const inside = Math.min(1, (below - above) / 4)
  const [first, last] =
    step > 0
      ? [(Math.floor(above / step) + 1) * step, (Math.ceil(below / step) - 1) * step]
      : [above + inside, below - inside]
  return { least: Math.max(least, first), most: Math.min(most, last), step }
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

/** `Sample title`, with a number for each further item of a list. */
function phrase(name: string, nth: number): string {
  const words = name
    .slice(0, 60)
    .replace(/(?<=\p{Ll})(?=\p{Lu})|_/gu, ' ')
    .toLowerCase()
  return `Sample ${words || 'text'}${nth > 0 ? ` ${nth + 1}` : ''}`
}

/** An example for each format of JSON Schema, and for those that zod adds. */
const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  duration: 'P3DT4H5M6S',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  cidrv4: '192.0.2.0/24',
  cidrv6: '2001:db8::/32',
  uri: 'https://example.com/',
  'uri-reference': '/example',
  url: 'https://example.com/',
  'uri-template': 'https://example.com/{id}',
  uuid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  guid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  'json-pointer': '/example',
  'relative-json-pointer': '0',
  regex: '^example$',
  base64: 'ZGVtbw==',
  base64url: 'ZGVtbw',
  e164: '+15550100200',
}
