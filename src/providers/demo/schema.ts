/** Reads JSON schemas: follows references, takes one alternative, and merges what is combined. All of it on a budget. */
import { invalid } from '../../errors.ts'
import { isRecord } from '../../wire/json.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Steps for all schemas of a request: parts that are read, and values and eight characters that are made. */
const maxSteps = 16_000
const maxDepth = 100

/** A schema in one piece. */
export interface Merged {
  /** Of several parts with a keyword, the first one has it. */
  readonly keywords: Record<string, unknown>
  readonly properties: Map<string, unknown>
  /** Undefined if no part has `required`. */
  required: Set<string> | undefined
}

/** The keywords that are read, beside those that combine schemas. */
const known = (
  'type const enum format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf ' +
  'items prefixItems minItems maxItems properties required additionalProperties minProperties'
).split(' ')

export class SchemaReader {
  readonly #root: unknown
  readonly #budget: { steps: number }
  readonly #referred = new Map<string, unknown>()
  readonly #usual = new Map<unknown, Merged>()
  readonly #deep = new Map<unknown, Merged>()

  constructor(root: unknown, budget: { steps: number }) {
    this.#root = root
    this.#budget = budget
  }

  /** Counts steps. Throws 400 beyond the budget. */
  spend(steps: number): void {
    if ((this.#budget.steps -= steps) < 0) throw tooMuch()
  }

  /** `isDeep`: recursion has to end, so an alternative without further parts is taken. */
  merged(schema: unknown, depth: number, isDeep: boolean): Merged {
    const cache = isDeep ? this.#deep : this.#usual
    if (depth > maxDepth) throw tooMuch()
    const before = cache.get(schema)
    if (before !== undefined) {
      this.spend(1)
      return before
    }
    const keywords = Object.create(null) as Record<string, unknown>
    const into: Merged = { keywords, properties: new Map(), required: undefined }
    this.#add(schema, depth, isDeep, into)
    cache.set(schema, into)
    return into
  }

  #add(schema: unknown, depth: number, isDeep: boolean, into: Merged): void {
    this.spend(1)
    if (depth > maxDepth) throw tooMuch()
    if (!isRecord(schema)) return
    for (const keyword of known) if (Object.hasOwn(schema, keyword)) into.keywords[keyword] ??= schema[keyword]
    const { properties, required, $ref, allOf } = schema
    if (isRecord(properties)) {
      for (const [name, member] of Object.entries(properties)) {
        this.spend(1)
        if (!into.properties.has(name)) into.properties.set(name, member)
      }
    }
    if (Array.isArray(required)) {
      this.spend(required.length)
      into.required ??= new Set()
      for (const name of required) into.required.add(String(name))
    }
    if (typeof $ref === 'string') this.#add(this.#follow($ref), depth + 1, isDeep, into)
    if (Array.isArray(allOf)) for (const part of allOf) this.#add(part, depth + 1, isDeep, into)
    for (const name of ['anyOf', 'oneOf']) {
      const alternatives = schema[name]
      if (!Array.isArray(alternatives)) continue
      this.spend(alternatives.length)
      this.#add(oneOf(alternatives, isDeep), depth + 1, isDeep, into)
    }
  }

  /** The target of a reference such as `#/$defs/Node`. One to another document allows any value. */
  #follow(reference: string): unknown {
    if (this.#referred.has(reference)) return this.#referred.get(reference)
    this.spend(reference.length)
    let target = reference.startsWith('#') ? this.#root : {}
    for (const step of reference.split('/').slice(1)) {
      const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
      target =
        typeof target === 'object' && target !== null && Object.hasOwn(target, key) ? Reflect.get(target, key) : {}
    }
    this.#referred.set(reference, target)
    return target
  }
}

export function newBudget(): { steps: number } {
  return { steps: maxSteps }
}

/** The first alternative that is not null; deep inside null or a primitive. */
function oneOf(given: readonly unknown[], isDeep: boolean): unknown {
  const alternatives = given.filter(isRecord)
  const none = alternatives.find(({ type }) => type === 'null')
  const plain = alternatives.find((each) => !('$ref' in each) && typeOf(each) !== 'object')
  const usual = alternatives.find((each) => each !== none)
  return (isDeep ? (none ?? plain) : usual) ?? alternatives[0] ?? true
}

const keywordTypes: readonly (readonly [type: string, ...keywords: readonly string[]])[] = [
  ['object', 'properties', 'required', 'additionalProperties'],
  ['array', 'items', 'prefixItems', 'minItems'],
  ['number', 'minimum', 'maximum', 'multipleOf'],
]

/** The declared type, the first of several that is not null, or the one that the keywords imply. */
export function typeOf(keywords: Fields): string {
  const { type } = keywords
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return String(type.find((each) => each !== 'null') ?? type[0])
  return keywordTypes.find(([, ...names]) => names.some((name) => name in keywords))?.[0] ?? 'string'
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

function tooMuch() {
  return invalid('A JSON schema is too large, too deep or asks for too much for this model. Use a smaller schema.')
}
