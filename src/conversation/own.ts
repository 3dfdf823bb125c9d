/** What only one wire format knows. */

/** A wire format. */
export type FormatName = 'chat' | 'responses' | 'messages' | 'gemini'

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>

/** Fields that only one format knows, unknown ones included. */
export type Own = { readonly [Name in FormatName]?: Fields }

/** A type whose fields can be assigned. */
export type Mutable<Each> = { -readonly [Name in keyof Each]: Each[Name] }

/** The fields of `record` that are not among `known`, as those of one format; undefined if there are none. */
export function ownOf(format: FormatName, record: Fields, known: ReadonlySet<string>): Own | undefined {
  return asOwn(format, others(record, known))
}

/** Undefined for no fields. */
export function asOwn(format: FormatName, fields: Fields | undefined): Own | undefined {
  return fields && { [format]: fields }
}

/** The fields of `record` that are not among `known`; undefined if there are none. */
export function others(record: Fields, known: ReadonlySet<string>): Record<string, unknown> | undefined {
  let found: Record<string, unknown> | undefined
  for (const name in record) if (!known.has(name) && record[name] !== undefined) (found ??= {})[name] = record[name]
  return found
}

/** Both, with the later fields of each format before the earlier ones. */
export function joinOwn(before: Own | undefined, more: Own | undefined): Own | undefined {
  if (before === undefined || more === undefined) return more ?? before
  const joined: Record<string, Fields> = { ...before }
  for (const [name, fields] of Object.entries(more)) joined[name] = { ...joined[name], ...fields }
  return joined
}
