/** Reads JSON schemas on a budget: follows references, takes one alternative, and merges what is combined. */
import { invalid } from '../../errors.ts'
import { fieldsOf, isRecord } from '../../wire/json.ts'
import { decoded } from '../data-url.ts'

/** Steps for all schemas of a request: parts that are read, and values and eight characters that are made. */
const maxSteps = 16_000
const maxDepth = 100

/** A schema in one piece. Of several parts with the same keyword or property, the first one counts. */
export interface Merged {
  readonly keywords: Map<string, unknown>
  readonly properties: Map<string, unknown>
  readonly required: Set<string>
}

/** The keywords that are read, beside those that combine schemas. */
const known = (
  'type const enum format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf ' +
  'items prefixItems minItems maxItems uniqueItems properties required additionalProperties minProperties'
).split(' ')

export class Budget {
  #steps = maxSteps

  /** Counts steps. Throws 400 beyond the budget. */
  spend(steps: number): void {
    if ((this.#steps -= steps) < 0) throw tooMuch()
  }
}

/** Reads `schema`, a part of `root`. `isTerse`: an alternative without further parts is taken, so that recursion ends. */
export function merged(schema: unknown, root: unknown, budget: Budget, depth: number, isTerse: boolean): Merged {
  const into: Merged = { keywords: new Map(), properties: new Map(), required: new Set() }
  add(schema, depth)
  return into

  function add(part: unknown, at: number): void {
    budget.spend(2)
    if (at > maxDepth) throw tooMuch()
    if (!isRecord(part)) return
    for (const name of known) {
      if (Object.hasOwn(part, name) && !into.keywords.has(name)) into.keywords.set(name, part[name])
    }
    const { properties, required, $ref, allOf, anyOf, oneOf } = part
    for (const [name, member] of Object.entries(fieldsOf(properties))) {
      budget.spend(1)
      if (!into.properties.has(name)) into.properties.set(name, member)
    }
    if (Array.isArray(required)) {
      budget.spend(required.length)
      for (const name of required) into.required.add(String(name))
    }
    if (typeof $ref === 'string') add(referred($ref), at + 1)
    if (Array.isArray(allOf)) for (const each of allOf) add(each, at + 1)
    for (const several of [anyOf, oneOf]) {
      if (!Array.isArray(several)) continue
      budget.spend(several.length)
      add(oneOfThese(several.filter(isRecord), isTerse), at + 1)
    }
  }

  /** The target of a reference such as `#/$defs/Node`. One to another document allows any value. */
  function referred(reference: string): unknown {
    budget.spend(reference.length / 2)
    let target = reference.startsWith('#') ? root : {}
    for (const step of decoded(reference).split('/').slice(1)) {
      const [within, key] = [Object(target) as object, step.replaceAll('~1', '/').replaceAll('~0', '~')]
      target = Object.hasOwn(within, key) ? Reflect.get(within, key) : {}
    }
    return target
  }
}

/** The first alternative that is not null; tersely null or a primitive. */
function oneOfThese(alternatives: readonly Record<string, unknown>[], isTerse: boolean): unknown {
  const none = alternatives.find(({ type }) => type === 'null')
  const plain = alternatives.find((each) => !('$ref' in each) && typeOf(new Map(Object.entries(each))) !== 'object')
  const usual = alternatives.find((each) => each !== none)
  return (isTerse ? (none ?? plain) : usual) ?? alternatives[0] ?? true
}

/** The declared type, the first of several that is not null, or the one that the keywords imply. */
export function typeOf(keywords: ReadonlyMap<string, unknown>): string {
  const type = keywords.get('type')
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return String(type.find((each) => each !== 'null') ?? type[0])
  const has = (...names: string[]) => names.some((name) => keywords.has(name))
  if (has('properties', 'required', 'additionalProperties')) return 'object'
  if (has('items', 'prefixItems', 'minItems')) return 'array'
  return has('minimum', 'maximum', 'multipleOf') ? 'number' : 'string'
}

function tooMuch() {
  return invalid('A JSON schema is too large, too deep or asks for too much for this model. Use a smaller schema.')
}
