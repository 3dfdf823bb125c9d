/** The one reading of a media type: two parsers that disagree on a tab or a quote have been a way past checks elsewhere. */
export interface MediaType {
  /** Lower case, without parameters, such as `application/json`. */
  readonly essence: string
  /** Lower-case names; of a repeated parameter the first counts. */
  readonly parameters: ReadonlyMap<string, string>
}

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const parameter =
  // oxlint-disable-next-line no-control-regex -- control characters are what must not stand in a quoted value
  /^ *([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*)") *$/

/** Undefined for anything that is not exactly one well-formed media type. */
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

/** Splits at the semicolons that stand outside quotes. */
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
