/** What only one wire format knows. */

/** A wire format. */
export type FormatName = 'chat' | 'responses' | 'messages' | 'gemini'

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>

/** Fields that only one format knows, unknown ones included. */
export type Own = { readonly [Name in FormatName]?: Fields }
