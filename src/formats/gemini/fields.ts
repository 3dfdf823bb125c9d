/** Fields under Google's names: its API takes them in camel case and in snake case. */
import { invalid } from '../../errors.ts'
import { isRecord, type Fields } from '../../wire/json.ts'

/** The same fields in camel case; the same object if they are already. */
export function camelFields(raw: Fields): Fields {
  let isCamel = true
  for (const name in raw) {
    if (name.includes('_')) {
      isCamel = false
      break
    }
  }
  if (isCamel) return raw
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(raw)) fields[camelName(name)] = value
  return fields
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

export function stringAt(record: Fields, name: string, place: string): string {
  const value = record[name]
  if (typeof value !== 'string') throw invalid(`"${place}.${name}" must be a string.`, `${place}.${name}`)
  return value
}
