/**
 * Makes JSON values that fit schemas, with values of the question where they fit. Ignored keywords: `pattern`, `not`,
 * `if`, `dependent…`, `contains`.
 */
import { formats } from './formats.ts'
import { Hints } from './hints.ts'
import { Budget, merged, typeOf, type Merged } from './schema.ts'

/** From this depth on, only what is required is made, so that recursion in a schema ends. */
const terseDepth = 5
/** Characters of a text. */
const maxText = 2_000

/** Makes values for the schemas of one request, which share a budget: throws 400 beyond it. */
export function fittingFor(question: string): (schema: unknown) => unknown {
  const hints = new Hints(question)
  const budget = new Budget()
  return (schema) => new Fitting(schema, hints, budget).value(schema, '', 0, 0)
}

class Fitting {
  readonly #root: unknown
  readonly #hints: Hints
  readonly #budget: Budget
  #numbersUsed = 0

  constructor(root: unknown, hints: Hints, budget: Budget) {
    this.#root = root
    this.#hints = hints
    this.#budget = budget
  }

  /** `nth`: the place in a list, whose items differ. */
  value(raw: unknown, name: string, depth: number, nth: number): unknown {
    const schema = merged(raw, this.#root, this.#budget, depth, depth >= terseDepth)
    const { keywords } = schema
    if (keywords.has('const')) return this.#copy(keywords.get('const'))
    const choices = keywords.get('enum')
    if (Array.isArray(choices)) return this.#copy(this.#choice(choices, nth))
    const type = typeOf(keywords)
    switch (type) {
      case 'object':
        return this.#object(schema, name, depth)
      case 'array':
        return this.#array(schema, name, depth)
      case 'integer':
      case 'number':
        return this.#number(schema, type === 'integer', name, nth)
      case 'boolean':
        return this.#hints.named(name) === 'false' ? false : nth % 2 === 0
      case 'null':
        return null
      default:
        return this.#text(schema, name, nth)
    }
  }

  #copy(value: unknown): unknown {
    this.#budget.spend(typeof value === 'string' ? 1 + value.length / 8 : 1)
    if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) this.#copy(each)
    return value
  }

  /** The choice that the question mentions, if it is among the first hundred; otherwise one after the other. */
  #choice(choices: readonly unknown[], nth: number): unknown {
    const { words } = this.#hints
    const mentioned = choices.slice(0, 100).find((each) => typeof each === 'string' && words.has(each))
    return (nth === 0 ? mentioned : undefined) ?? choices[nth % Math.max(choices.length, 1)] ?? null
  }

  #object({ keywords, properties, required }: Merged, above: string, depth: number): Record<string, unknown> {
    const isTerse = keywords.has('required') || depth >= terseDepth
    const names = new Set(required)
    for (const name of properties.keys()) if (!isTerse || this.#hints.named(name) !== undefined) names.add(name)
    const least = numberOr(keywords.get('minProperties'), 0)
    for (const name of properties.keys()) if (names.size < least) names.add(name)
    for (let more = 1; names.size < least; more++) {
      this.#budget.spend(1)
      names.add(`key${more}`)
    }
    const entries = [...names].map((name) => {
      this.#budget.spend(name.length / 8)
      const member = properties.get(name) ?? keywords.get('additionalProperties') ?? true
      return [name, this.value(member, name || above, depth + 1, 0)] as const
    })
    return Object.fromEntries(entries)
  }

  #array({ keywords }: Merged, name: string, depth: number): unknown[] {
    const [items, prefix] = [keywords.get('items'), keywords.get('prefixItems')]
    const first: readonly unknown[] = [prefix, items].find(Array.isArray) ?? []
    const rest = Array.isArray(items) ? true : (items ?? true)
    const usual = depth >= terseDepth || first.length > 0 ? first.length : keywords.get('uniqueItems') === true ? 1 : 2
    const least = numberOr(keywords.get('minItems'), usual)
    const most = rest === false ? first.length : numberOr(keywords.get('maxItems'), Infinity)
    const list: unknown[] = []
    for (let nth = 0; nth < Math.min(Math.max(least, first.length), most); nth++) {
      list.push(this.value(first[nth] ?? rest, name, depth + 1, nth))
    }
    return list
  }

  #text({ keywords }: Merged, name: string, nth: number): string {
    const format = String(keywords.get('format')).replace(/^idn-/, '').replace(/^iri/, 'uri')
    if (Object.hasOwn(formats, format)) return formats[format] as string
    const hint = nth === 0 ? (this.#hints.named(name) ?? this.#hints.guess(name)) : undefined
    const least = Math.min(numberOr(keywords.get('minLength'), 0), maxText)
    const most = Math.min(numberOr(keywords.get('maxLength'), maxText), maxText)
    const about = this.#hints.question === '' ? '' : ` for "${this.#hints.question.slice(0, 60)}"`
    const text = (hint ?? `${phrase(name, nth)}${about}`).padEnd(least, '.').slice(0, most)
    this.#budget.spend(text.length / 8)
    return text
  }

  /** A number of the question if it fits, else the nearest to 12; the items of a list count from there. */
  #number({ keywords }: Merged, isInteger: boolean, name: string, nth: number): number {
    const bound = (key: string, otherwise: number) => numberOr(keywords.get(key), otherwise)
    const given = bound('multipleOf', 0)
    const step = isInteger && !Number.isInteger(given) ? 1 : given || (isInteger ? 1 : 0)
    // Up to draft 4, the exclusive bounds are booleans that modify the inclusive ones.
    const above = bound(keywords.get('exclusiveMinimum') === true ? 'minimum' : 'exclusiveMinimum', -Infinity)
    const below = bound(keywords.get('exclusiveMaximum') === true ? 'maximum' : 'exclusiveMaximum', Infinity)
    const unit = step || Math.min(1, (below - above) / 4)
    const inside = step === 0 ? unit : step / 1e9
    const onStep = (value: number, way: 'ceil' | 'floor') => (step === 0 ? value : Math[way](value / step) * step)
    const least = onStep(Math.max(bound('minimum', -Infinity), above + inside), 'ceil')
    const most = onStep(Math.min(bound('maximum', Infinity), below - inside), 'floor')
    const named = Number(this.#hints.named(name) ?? NaN)
    const hint = Number.isFinite(named) || nth > 0 ? named : (this.#hints.numbers[this.#numbersUsed++] ?? NaN)
    if (hint >= least && hint <= most && (step === 0 || Number.isInteger(hint / step))) return hint
    const first = onStep(Math.min(Math.max(12, least), most), 'ceil')
    const room = Math.floor((most - first) / unit)
    return nth <= room ? first + nth * unit : Math.max(first - (nth - room) * unit, Math.min(least, first))
  }
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

/** `Sample title`, with a number for each further item of a list. */
function phrase(name: string, nth: number): string {
  const spaced = name.slice(0, 60).replace(/(?<=\p{Ll})(?=\p{Lu})|_/gu, ' ')
  return `Sample ${spaced.toLowerCase() || 'text'}${nth > 0 ? ` ${nth + 1}` : ''}`
}
