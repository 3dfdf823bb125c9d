/** The texts in conversations and in the JSON of requests. */

/** What is no text: kinds, ids, data, addresses, and what only a vendor can read. */
const notText: ReadonlySet<string> = new Set([
  'kind',
  'type',
  'role',
  'by',
  'form',
  'format',
  'place',
  'id',
  'callId',
  'call_id',
  'tool_use_id',
  'state',
  'source',
  'base64',
  'mediaType',
  'media_type',
  'url',
  'image_url',
  'data',
  'file_data',
  'signature',
  'encrypted_content',
  'thoughtSignature',
])

/** The same value with other texts: what has none that changes stays the same object. `skip`: names of fields without texts. */
export function mapStrings<Value>(
  value: Value,
  change: (text: string) => string,
  skip: ReadonlySet<string> = notText,
): Value {
  if (typeof value === 'string') return change(value) as Value
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
  if (Array.isArray(value)) {
    const list = value.map((each: unknown) => mapStrings(each, change, skip))
    return list.some((each, index) => each !== value[index]) ? (list as Value) : value
  }
  let changed: object | undefined
  for (const [field, each] of Object.entries(value)) {
    // A file may be a text.
    if (skip.has(field) && !(field === 'source' && 'text' in Object(each))) continue
    const now: unknown = mapStrings(each, change, skip)
    if (now !== each) changed = { ...(changed ?? value), [field]: now }
  }
  return (changed ?? value) as Value
}

/** The texts of a value, in their order. */
export function stringsIn(value: unknown, skip?: ReadonlySet<string>): string[] {
  const texts: string[] = []
  mapStrings(
    value,
    (text) => {
      texts.push(text)
      return text
    },
    skip,
  )
  return texts
}

/** The value with these texts in place of its own. */
export function withStrings<Value>(value: Value, texts: readonly string[], skip?: ReadonlySet<string>): Value {
  let at = 0
  return mapStrings(value, () => texts[at++] as string, skip)
}

const pieces = /"(?:[^"\\]|\\.)*"|[^"]+/g

/** A text with other texts in it. In JSON those are the strings and numbers, and all else stays as it is written. */
export function mapText(text: string, change: (text: string) => string): string {
  if (!isJson(text)) return change(text)
  const changed = (written: string, plain: string) => {
    const now = mapText(plain, change)
    return now === plain ? written : JSON.stringify(now)
  }
  return text.replaceAll(pieces, (piece) =>
    piece.startsWith('"')
      ? changed(piece, JSON.parse(piece) as string)
      : piece.replaceAll(/\d[\d.]*/g, (number) => changed(number, number)),
  )
}

function isJson(text: string): boolean {
  if (!/^\s*["[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
