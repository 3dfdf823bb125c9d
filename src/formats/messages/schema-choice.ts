/** Rewrites tool schemas with `anyOf`, `oneOf` or `allOf` at the top, which the API rejects. */
import { definitionIn, type Schema } from '../../providers/reading/definitions.ts'
import { isRecord } from '../../wire/json.ts'
import { hasSchemaChoice } from './strictness.ts'

const maxDepth = 4
/** Maximum number of branches to merge. Further ones appear only in the description. */
const maxBranches = 200
/** Maximum length of a choice in the description, in characters. */
const maxNoteLength = 8_000

/**
 * Merges the branches into one object and describes the choice in its description. Returns the same schema if there is no
 * choice.
 */
export function withoutSchemaChoice(schema: Schema): Schema {
  if (!hasSchemaChoice(schema)) return schema
  const { anyOf, oneOf, allOf, description, ...rest } = schema
  const choices = { anyOf, oneOf, allOf }
  const words = { anyOf: 'at least one', oneOf: 'exactly one', allOf: 'all' } as const
  const notes = (Object.keys(words) as (keyof typeof words)[])
    .filter((name) => Array.isArray(choices[name]))
    .map((name) => `The input must fit ${words[name]} of these schemas: ${JSON.stringify(choices[name])}`)
    .filter((note) => note.length <= maxNoteLength)
  const { properties, required } = new Joiner(schema).join(schema, 0)
  return {
    ...rest,
    properties: Object.fromEntries(properties),
    required: [...required],
    description: [...(typeof description === 'string' ? [description] : []), ...notes].join('\n'),
  }
}

interface Shape {
  readonly properties: ReadonlyMap<string, unknown>
  readonly required: ReadonlySet<unknown>
}

/** Collects all properties of a schema and its branches. One is required if the schema or all branches require it. */
class Joiner {
  readonly #root: Schema
  #left = maxBranches

  constructor(root: Schema) {
    this.#root = root
  }

  join(schema: Schema, depth: number): Shape {
    const { properties, required, anyOf, oneOf, allOf } = schema
    const own: Shape = {
      properties: new Map(Object.entries(isRecord(properties) ? properties : {})),
      required: new Set(Array.isArray(required) ? required : []),
    }
    const all = [own, ...this.#branches(allOf, depth)]
    const either = [this.#branches(anyOf, depth), this.#branches(oneOf, depth)]
    return {
      properties: merged([...all, ...either.flat()]),
      required: new Set([...all.flatMap((part) => [...part.required]), ...either.flatMap(inEach)]),
    }
  }

  #branches(list: unknown, depth: number): Shape[] {
    if (!Array.isArray(list) || depth === maxDepth) return []
    const branches: Shape[] = []
    for (const each of list)
      if (isRecord(each) && this.#left-- > 0) branches.push(this.join(this.#resolved(each), depth + 1))
    return branches
  }

  #resolved(schema: Schema): Schema {
    const target = typeof schema['$ref'] === 'string' ? definitionIn(this.#root, schema['$ref']) : undefined
    return isRecord(target) ? target : schema
  }
}

function inEach([first, ...others]: readonly Shape[]): unknown[] {
  return [...(first?.required ?? [])].filter((name) => others.every(({ required }) => required.has(name)))
}

function merged(parts: readonly Shape[]): ReadonlyMap<string, unknown> {
  const byName = new Map<string, Set<unknown>>()
  for (const { properties } of parts) {
    for (const [name, schema] of properties) byName.set(name, (byName.get(name) ?? new Set()).add(schema))
  }
  return new Map([...byName].map(([name, schemas]) => [name, eitherOf([...schemas])]))
}

function eitherOf(schemas: readonly unknown[]): unknown {
  if (schemas.length === 1) return schemas[0]
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
  return different.length === 1 ? different[0] : { anyOf: different }
}
