/**
 * Records the types of the objects in JSON text while it is scanned, so that a large list of messages need not be parsed to
 * know what kinds of parts it has.
 */

/** The strings that are members named `type` inside a value, at all levels. */
export type Types = ReadonlySet<string>

/** Types of one value to record, and the length in bytes of the longest one. */
const mostTypes = 64
const longestType = 64

const none: Types = new Set()

/** Texts by a hash of their bytes: most requests have the same few types. */
const texts = new Map<number, string>()

export class TypeNames {
  readonly #bytes: Buffer
  #types: Set<string> | undefined
  #areKnown = true

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Whether the key of a member is `type`, in lower or upper case. `start`, `end`: with its quotes. */
  isType(start: number, end: number, hasEscape: boolean): boolean {
    if (hasEscape) this.#areKnown = false
    if (end - start !== 6) return false
    const bytes = this.#bytes
    return (
      ((bytes[start + 1] as number) | 0x20) === 0x74 &&
      ((bytes[start + 2] as number) | 0x20) === 0x79 &&
      ((bytes[start + 3] as number) | 0x20) === 0x70 &&
      ((bytes[start + 4] as number) | 0x20) === 0x65
    )
  }

  /** Adds the string between two offsets. */
  add(start: number, end: number, hasEscape: boolean): void {
    const types = (this.#types ??= new Set())
    if (hasEscape || end - start > longestType) this.#areKnown = false
    else if (types.size < mostTypes) types.add(textAt(this.#bytes, start, end))
    else this.#areKnown = false
  }

  /**
   * The types that were added since the last call; undefined if there are too many, or names or types that would have to be
   * parsed.
   */
  taken(): Types | undefined {
    const types = this.#areKnown ? (this.#types ?? none) : undefined
    this.#types = undefined
    this.#areKnown = true
    return types
  }
}

/** The text of a short string without escapes, which is seldom made anew. */
function textAt(bytes: Buffer, start: number, end: number): string {
  let hash = 0
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0
  const known = texts.get(hash)
  if (known !== undefined && known.length === end - start && isTextAt(bytes, start, known)) return known
  const text = bytes.toString('utf8', start, end)
  if (texts.size >= 1_000) texts.clear()
  texts.set(hash, text)
  return text
}

function isTextAt(bytes: Buffer, start: number, text: string): boolean {
  for (let index = 0; index < text.length; index++) if (bytes[start + index] !== text.charCodeAt(index)) return false
  return true
}
