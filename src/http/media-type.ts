/**
 * A parsed media type. There is one parser for all checks: parsers that disagree on odd input let requests bypass them.
 */
export interface MediaType {
  /** Lower case, without parameters, such as `application/json`. */
  readonly essence: string
  /** Parameters by lower-case name; of duplicates the first one. */
  readonly parameters: ReadonlyMap<string, string>
}

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const parameter =
  // oxlint-disable-next-line no-control-regex -- the expression excludes control characters from quoted values
  /^ *([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*)") *$/

/** Parses a media type; undefined for anything but exactly one well-formed media type. */
export function parseMediaType(value: string): MediaType | undefined {
  const parts = splitParameters(value)
  const essence = (parts.shift() ?? '').replace(/ +$/, '').toLowerCase()
  const [type, subtype, ...rest] = essence.split('/')
  if (type === undefined || subtype === undefined || rest.length > 0) return undefined
  if (!token.test(type) || !token.test(subtype)) return undefined
  const parameters = new Map<string, string>()
  for (const part of parts) {
    if (/^ *$/.test(part)) continue
    const match = parameter.exec(part)
    if (match === null) return undefined
    const name = (match[1] as string).toLowerCase()
    if (!parameters.has(name)) parameters.set(name, match[2] ?? (match[3] as string).replace(/\\(.)/g, '$1'))
  }
  return { essence, parameters }
}

/** Splits at semicolons outside quotes. */
function splitParameters(value: string): string[] {
  if (!value.includes('"')) return value.split(';')
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let at = 0; at < value.length; at++) {
    const character = value[at]
    if (quoted && character === '\\') at++
    else if (character === '"') quoted = !quoted
    else if (character === ';' && !quoted) {
      parts.push(value.slice(start, at))
      start = at + 1
    }
  }
  parts.push(value.slice(start))
  return parts
}

/** Whether a content type equals `essence`, apart from its parameters. */
export function isMediaType(value: string | undefined, essence: string): boolean {
  if (value === undefined) return false
  // The fast paths: the spelling that most vendors use, and a type that begins with another letter.
  if (value.startsWith(essence) && (value.length === essence.length || value[essence.length] === ';')) return true
  const first = value.charCodeAt(0)
  if (first > 0x40 && (first | 0x20) !== essence.charCodeAt(0)) return false
  return parseMediaType(value)?.essence === essence
}
