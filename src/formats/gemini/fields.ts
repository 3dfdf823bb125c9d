/** Fields under Google's names: its API takes them in camel case and in snake case. */
import { invalid } from '../../errors.ts'
import { isRecord, type Fields } from '../../wire/json.ts'

/** The same fields in camel case; the same object if they are already. */
export function camelFields(raw: Fields): Fields {
  const names = Object.keys(raw)
  if (!names.some((name) => name.includes('_'))) return raw
  return Object.fromEntries(names.map((name) => [camelName(name), raw[name]]))
}

function camelName(name: string): string {
  return name.replaceAll(/(?<=[a-z\d])_([a-z\d])/g, (_, letter: string) => letter.toUpperCase())
}

/** An object with its names in camel case. Throws a 400 for anything else. */
export function recordAt(value: unknown, place: string): Fields {
  if (!isRecord(value)) throw invalid(`"${place}" must be an object.`, place)
  return camelFields(value)
}

/** The items of a list; a single object counts as one of them, and an absent list is empty. */
export function itemsAt(value: unknown, place: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  if (isRecord(value)) return [value]
  throw invalid(`"${place}" must be a list.`, place)
}
