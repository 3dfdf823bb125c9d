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
export function textsOf(value: unknown, param: string): readonly string[] {
  const list = listOf(value, param)
  if (!list.every((each) => typeof each === 'string')) throw invalid(`"${param}" must be a list of texts.`, param)
  return list
}

/** Searching for a stop sequence takes longer with their number and length, for each piece of text. */
const mostStops = 64
const longestStop = 256

/** Reads stop sequences, without empty ones; undefined if there are none. */
export function readStops(value: unknown, param: string): readonly string[] | undefined {
  const list = textsOf(value, param)
  if (list.length > mostStops || list.some(({ length }) => length > longestStop)) {
    const message = `"${param}" must be at most ${mostStops} sequences of at most ${longestStop} characters.`
    throw invalid(message, param)
  }
  const stops = list.filter((stop) => stop !== '')
  return stops.length === 0 ? undefined : stops
}

export function stringIn(record: Record<string, unknown>, name: string, param: string): string {
  const value = record[name]
  if (typeof value !== 'string') throw invalid(`"${param}.${name}" must be a string.`, `${param}.${name}`)
  return value
}
