/**
 * What a wire calls the fields of a conversation: to read and write settings that are numbers, to know what it says, and to name
 * the client's field in errors of a vendor that was asked in another wire format.
 */
import type { Fields, Settings } from '../conversation/conversation.ts'
import type { Mutable } from '../conversation/own.ts'
import type { ConversationField, FieldNames, Target } from './format.ts'

/**
 * The path of the field in the client's request, for that in the vendor's. Lists have other indexes there, so of a field in
 * a list only the list is named. Undefined if the client's format has no such field.
 */
export function clientField(
  param: string,
  vendor: FieldNames,
  client: FieldNames,
  request: Fields,
): string | undefined {
  const field = fieldAt(param, vendor)
  return field === undefined ? undefined : givenName(field, client, request)
}

/** The path of what a field says in a request; undefined if the format has no such field. */
export function givenName(field: ConversationField, names: FieldNames, request: Fields): string | undefined {
  return names[field]?.find((name) => isGiven(name, request)) ?? names[field]?.[0]
}

/** The name of a field in errors about what a request cannot say to its vendor. */
export function clientName(to: Pick<Target<unknown>, 'nameOf'>, field: ConversationField): string {
  return to.nameOf?.(field) ?? field
}

/** The field that a path is about: the longest name that it begins with. */
export function fieldAt(param: string, names: FieldNames): ConversationField | undefined {
  let found: ConversationField | undefined
  let length = 0
  for (const [field, paths] of Object.entries(names) as [ConversationField, readonly string[]][]) {
    for (const path of paths) {
      if (path.length <= length || !(param === path || isWithin(param, path))) continue
      found = field
      length = path.length
    }
  }
  return found
}

function isWithin(param: string, path: string): boolean {
  const next = param[path.length]
  return param.startsWith(path) && (next === '.' || next === '[')
}

function isGiven(path: string, request: Fields): boolean {
  let value: unknown = request
  for (const name of path.split('.')) value = (Object(value) as Fields)[name]
  return value !== undefined && value !== null
}

/** The fields of a request that a wire shares with others: the first steps of its paths, but for some. */
export function saidBy(names: FieldNames, except: readonly string[] = []): ReadonlySet<string> {
  const roots = pathsIn(names).map((path) => path.replace(/\..*/, ''))
  return new Set(['model', 'stream', ...roots.filter((root) => !except.includes(root))])
}

/** The fields of the object `within` a request that a wire shares with others. */
export function saidWithin(within: string, names: FieldNames): ReadonlySet<string> {
  return new Set(pathsIn(names).flatMap((path) => (isWithin(path, within) ? [path.slice(within.length + 1)] : [])))
}

function pathsIn(names: FieldNames): readonly string[] {
  return Object.values(names).flat()
}

const numeric = [
  'max',
  'temperature',
  'topP',
  'topK',
  'seed',
  'choices',
  'frequencyPenalty',
  'presencePenalty',
] as const

/** A setting that is a number, and its fields, without the object that they stand in. */
export type NumberField = readonly [name: (typeof numeric)[number], fields: readonly [string, ...string[]]]

/** The settings of a wire that are numbers, in the order of its names. */
export function numbersIn(names: FieldNames): readonly NumberField[] {
  return Object.entries(names).flatMap(([field, paths]): NumberField[] => {
    const name = numeric.find((each) => each === field)
    const [first, ...others] = paths.map((path) => path.slice(path.lastIndexOf('.') + 1))
    return name === undefined || first === undefined ? [] : [[name, [first, ...others]]]
  })
}

/** `record`: the object that has the fields. */
export function readNumbers(record: Fields, numbers: readonly NumberField[]): Mutable<Settings> {
  const settings: Mutable<Settings> = {}
  for (const [name, fields] of numbers) {
    for (const field of fields) {
      const value = record[field]
      if (typeof value !== 'number') continue
      settings[name] = value
      break
    }
  }
  return settings
}

export function writeNumbers(settings: Settings, numbers: readonly NumberField[]): Record<string, unknown> {
  const written: Record<string, unknown> = {}
  for (const [name, [field]] of numbers) if (settings[name] !== undefined) written[field] = settings[name]
  return written
}
