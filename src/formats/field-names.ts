/** The client's names of fields in errors of a vendor that was asked in another wire format. */
import type { Fields } from '../conversation/conversation.ts'
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
