/**
 * Records the types of the objects in JSON text while it is scanned, so that a large list of messages need not be parsed to
 * know what kinds of parts it has.
 */

/** The strings that are members named `type` inside a value, at all levels, and `file_id` if a member has such a name. */
export type Types = ReadonlySet<string>

/** In any spelling that a parser may take for it. */
const fileId = 'file_id'
const isFileId = /^file[_-]?id$/i
const isTypeName = /^type$/i

/** Types of one value to record, and the length in bytes of the longest one. */
const mostTypes = 64
const longestType = 64

/** Of a value without any. */
export const noTypes: Types = new Set()

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
    const length = end - start
    if (length !== 6) {
      if ((length === 9 || length === 8) && this.#spells('file', start + 1) && this.#isFileId(start + 1, end - 1)) {
        this.#addText(fileId)
      }
      return false
    }
    return this.#spells('type', start + 1)
  }

  /** Whether four letters spell a word, in lower or upper case. */
  #spells(word: string, start: number): boolean {
    const bytes = this.#bytes
    return (
      ((bytes[start] as number) | 0x20) === word.charCodeAt(0) &&
      ((bytes[start + 1] as number) | 0x20) === word.charCodeAt(1) &&
      ((bytes[start + 2] as number) | 0x20) === word.charCodeAt(2) &&
      ((bytes[start + 3] as number) | 0x20) === word.charCodeAt(3)
    )
  }

  #isFileId(start: number, end: number): boolean {
    return isFileId.test(this.#bytes.toString('latin1', start, end))
  }

  /** Adds the string between two offsets. */
  add(start: number, end: number, hasEscape: boolean): void {
    if (hasEscape || end - start > longestType) this.#areKnown = false
    else this.#addText(textAt(this.#bytes, start, end))
  }

  #addText(text: string): void {
    const types = (this.#types ??= new Set())
    if (types.size < mostTypes) types.add(text)
    else this.#areKnown = false
  }

  /**
   * The types that were added since the last call; undefined if there are too many, or names or types that would have to be
   * parsed.
   */
  taken(): Types | undefined {
    const types = this.#areKnown ? (this.#types ?? noTypes) : undefined
    this.#types = undefined
    this.#areKnown = true
    return types
  }
}

/** The types in a value that is parsed already. */
export function typesIn(root: unknown): Types {
  const types = new Set<string>()
  const open = typeof root === 'object' && root !== null ? [root] : []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const name in next) {
      const member = (next as Record<string, unknown>)[name]
      if (typeof member === 'object') {
        if (member !== null) open.push(member)
      } else if (name.length === 4 && typeof member === 'string' && isTypeName.test(name)) types.add(member)
      else if (name.length < 8 && name.length > 5 && isFileId.test(name)) types.add(fileId)
    }
  }
  return types
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
