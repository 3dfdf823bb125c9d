/**
 * Decides which schemas the vendor can enforce without a change of their meaning. Source of the limits: Anthropic's
 * documentation, Structured outputs.
 */
import { definitionIn, type Schema } from '../../providers/reading/definitions.ts'
import { isRecord } from '../../wire/json.ts'

/** The remaining limits of one request. A schema that exceeds them is shown to the model, but not enforced. */
export class StrictBudget {
  #tools = 20
  #optional = 24
  #unions = 16

  /** Subtracts the needs of a response schema. Returns false and subtracts nothing if they exceed the limits. */
  take(schema: Schema): boolean {
    const needs = needsOf(schema)
    if (needs === undefined || needs.optional > this.#optional || needs.unions > this.#unions) return false
    this.#optional -= needs.optional
    this.#unions -= needs.unions
    return true
  }

  /** The same for the input schema of a tool. */
  takeTool(schema: Schema): boolean {
    if (this.#tools === 0 || hasSchemaChoice(schema) || !this.take(schema)) return false
    this.#tools--
    return true
  }
}

/** Whether a schema has a choice at the top, which the API rejects for tools. */
export function hasSchemaChoice({ anyOf, oneOf, allOf }: Schema): boolean {
  return [anyOf, oneOf, allOf].some(Array.isArray)
}

interface Needs {
  /** Properties that are not required. */
  optional: number
  /** Schemas that allow several types. */
  unions: number
}

const maxDepth = 50
const maxSchemas = 2_000

/** Undefined if the vendor cannot enforce the schema, or only with another meaning. */
function needsOf(root: Schema): Needs | undefined {
  const needs: Needs = { optional: 0, unions: 0 }
  const refs = new Map<string, 'open' | 'closed'>()
  let count = 0
  const fits = (schema: unknown, depth: number): boolean => {
    if (!isRecord(schema)) return true
    if (++count > maxSchemas || depth > maxDepth || isOpen(schema)) return false
    const { type, properties, required, $ref: ref, items, prefixItems, anyOf, oneOf, allOf } = schema
    if (Array.isArray(type) || Array.isArray(anyOf) || Array.isArray(oneOf)) needs.unions++
    if (isRecord(properties)) {
      const names = new Set(Array.isArray(required) ? required : [])
      needs.optional += Object.keys(properties).filter((name) => !names.has(name)).length
    }
    if (Array.isArray(allOf) && allOf.some((each) => isRecord(each) && each['$ref'] !== undefined)) return false
    const inner = [properties, anyOf, oneOf, allOf, prefixItems].flatMap((each) =>
      Object.values(Object(each) as object),
    )
    return (
      (typeof ref !== 'string' || refers(ref, depth)) && [...inner, items].flat().every((each) => fits(each, depth + 1))
    )
  }
  const refers = (ref: string, depth: number): boolean => {
    if (refs.get(ref) === 'closed') return true
    const target = definitionIn(root, ref)
    if (refs.has(ref) || target === undefined) return false
    refs.set(ref, 'open')
    const fitting = fits(target, depth + 1)
    refs.set(ref, 'closed')
    return fitting
  }
  return fits(root, 0) ? needs : undefined
}

/** Whether an object may have properties that the schema does not name. The API accepts only objects that may not. */
function isOpen({ type, properties, additionalProperties: others, patternProperties }: Schema): boolean {
  if (isRecord(patternProperties) && Object.keys(patternProperties).length > 0) return true
  if (others !== undefined) return others !== false
  const object = type === 'object' || (Array.isArray(type) && type.includes('object'))
  // Without `additionalProperties`, most authors who list properties mean no others.
  return object && !isRecord(properties)
}
