/** Comparing frames with known bytes, and finding the end of the text between them. */
import type { WordView } from './frame-window.ts'

const quote = 0x22
const backslash = 0x5c
const letterU = 0x75

/** Fixed bytes of a frame, and what follows them. */
export class FramePart<Gap> {
  readonly gap: Gap
  readonly #size: number
  /** The bytes as 64-bit floats. NaN would never compare equal, but no bytes of UTF-8 text encode it. */
  readonly #words: number[] = []
  /** The last eight bytes in the same form; some of them may be in `#words` as well. */
  readonly #last: number = 0
  /** The bytes of a part that is shorter than a word. */
  readonly #short: number[] = []

  constructor({ bytes, words }: WordView, start: number, end: number, gap: Gap) {
    this.gap = gap
    this.#size = end - start
    if (this.#size < 8) this.#short = [...bytes.subarray(start, end)]
    else {
      for (let at = start; at + 8 < end; at += 8) this.#words.push(words.getFloat64(at, true))
      this.#last = words.getFloat64(end - 8, true)
    }
  }

  /** The end of the part if it matches at `from`; otherwise -1. */
  endOf({ bytes, words, size }: WordView, from: number): number {
    const end = from + this.#size
    if (end > size) return -1
    if (this.#size < 8) {
      const short = this.#short
      for (let index = 0; index < short.length; index++) if (bytes[from + index] !== short[index]) return -1
      return end
    }
    const known = this.#words
    for (let index = 0; index < known.length; index++) {
      if (words.getFloat64(from + index * 8, true) !== known[index]) return -1
    }
    return words.getFloat64(end - 8, true) === this.#last ? end : -1
  }
}

/** Index of the closing quote of a string, or of a character that a JSON string cannot contain. */
export function endOfText({ bytes, size }: WordView, from: number): number {
  let at = from
  while (at < size) {
    const byte = bytes[at] as number
    if (byte === quote || byte < 0x20) break
    at += byte === backslash ? 2 : 1
  }
  return at
}

/** The number of bytes by which the JSON of a string is longer than its UTF-8. */
export function escapeBytes(bytes: Buffer, from: number, to: number): number {
  let saved = 0
  let at = from
  // The usual text has none.
  while (at < to && bytes[at] !== backslash) at++
  while (at < to) {
    if (bytes[at] !== backslash) at++
    else if (bytes[at + 1] === letterU) {
      const unit = parseInt(bytes.toString('latin1', at + 2, at + 6), 16)
      // Each half of a surrogate pair counts as two of its four bytes in UTF-8.
      saved += unit < 0x80 ? 5 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 4 : 3
      at += 6
    } else {
      saved++
      at += 2
    }
  }
  return saved
}
