/** Reads the fields of a request that nothing has validated before, such as those inside of a large one. */
import { invalid } from '../../errors.ts'
import { isRecord } from '../../wire/json.ts'

export function readRecord(value: unknown, param: string): Record<string, unknown> {
  if (!isRecord(value)) throw invalid(`"${param}" must be an object.`, param)
  return value
}

/** Reads a list; empty if absent. */
export function listOf(value: unknown, param: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw invalid(`"${param}" must be a list.`, param)
  return value
}

/** Reads a list of texts; empty if absent. */
export function readTexts(value: unknown, param: string): readonly string[] {
  const list = listOf(value, param)
  if (!list.every((each) => typeof each === 'string')) throw invalid(`"${param}" must be a list of texts.`, param)
  return list
}

export function stringIn(record: Record<string, unknown>, name: string, param: string): string {
  const value = record[name]
  if (typeof value !== 'string') throw invalid(`"${param}.${name}" must be a string.`, `${param}.${name}`)
  return value
}
