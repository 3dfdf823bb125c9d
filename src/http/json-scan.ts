/**
 * Validates JSON text (RFC 8259) and its size limits in one pass over the bytes, without recursion or building values,
 * and records the offsets of the top-level members. It runs before `JSON.parse`, zod and every recursive function, and
 * lets a large body be forwarded without being parsed.
 */
import { invalid } from '../errors.ts'
import { broken, endOfEscapes } from './json-escapes.ts'
import { noTypes, TypeNames, type Types } from './json-types.ts'
import { tooDeep, tooManyParts, type JsonLimits } from './json-limits.ts'

/**
 * The top-level members, five numbers each: the offsets of start and end (exclusive) of the key, of start and end (exclusive)
 * of the value, and the number of members and items inside the value, at all levels.
 */
export type Places = readonly number[]

/** The numbers of each member in `Places`. */
export const perMember = 5

/** What a scan records of the top-level members, in their order. */
export interface Scan {
  readonly places: Places
  /** The types inside each; undefined if they are not known. Absent: no member has any. */
  readonly types: readonly (Types | undefined)[] | undefined
  readonly hasLongNumber: boolean
}

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a

/** The longest key, in bytes. */
const longestName = 65_536

/** A number of fewer characters, without an exponent, has at most the 15 digits that a parsed number keeps. */
const longNumber = 16

/** Up to this many bytes of a string, a loop is faster than a native search. */
const shortString = 32

/** 1 for the bytes that end a run of plain characters in a string: quote, backslash, control characters. */
const endsRun = new Uint8Array(256)
endsRun.fill(1, 0, 0x20)
endsRun[quote] = 1
endsRun[backslash] = 1

const isSpace = new Uint8Array(256)
for (const space of ' \t\n\r') isSpace[space.charCodeAt(0)] = 1

const isDigit = new Uint8Array(256)
for (const digit of '0123456789') isDigit[digit.charCodeAt(0)] = 1

/** For each open level of the text being scanned: whether it is an object, and its number of entries so far. */
const isObject: boolean[] = []
const entriesOf: number[] = []

/** The members of a JSON object. Throws 400 for anything else, or if `sizes` are exceeded. */
export function scanObject(bytes: Buffer, sizes: JsonLimits): Scan {
  return new Scanner(bytes, sizes).object()
}

class Scanner {
  readonly #bytes: Buffer
  #view: DataView | undefined
  readonly #limits: JsonLimits
  /** The current offset. */
  #at = 0
  #depth = 0
  #nodes = 0
  /** Offsets of the current top-level member. */
  #keyStart = 0
  #keyEnd = 0
  #valueStart = 0
  /** `#nodes` at the start of its value. */
  #nodesBefore = 0
  /** Whether the current value is that of a member named `type`. */
  #isType = false
  readonly #types: TypeNames
  /** Whether the last string had an escape. */
  #hadEscape = false
  /** Offset of the next quote and backslash, searched again once passed; the end of the text if there is none. */
  #nextQuote = 0
  #nextBackslash = 0
  #hasLongNumber = false

  constructor(bytes: Buffer, limits: JsonLimits) {
    this.#bytes = bytes
    this.#limits = limits
    this.#types = new TypeNames(bytes)
  }

  /** Made only for bodies with long strings. */
  get #words(): DataView {
    const { buffer, byteOffset, length } = this.#bytes
    return (this.#view ??= new DataView(buffer, byteOffset, length))
  }

  object(): Scan {
    const bytes = this.#bytes
    const places: number[] = []
    let types: (Types | undefined)[] | undefined
    this.#skipSpace()
    if (bytes[this.#at] !== openBrace) throw invalid('The request body must be a JSON object.')
    for (;;) {
      // At the start of a value.
      const first = bytes[this.#at]
      if (first !== openBrace && first !== openBracket) this.#skipScalar(first)
      else if (this.#open(first === openBrace)) {
        this.#enter()
        continue
      }
      // After a value: also closes the objects and arrays that end here.
      for (;;) {
        if (this.#depth === 1) {
          const inside = this.#types.taken()
          if (inside !== noTypes) types ??= Array.from({ length: places.length / perMember }, () => noTypes)
          types?.push(inside)
          places.push(this.#keyStart, this.#keyEnd, this.#valueStart, this.#at, this.#nodes - this.#nodesBefore)
        }
        this.#skipSpace()
        if (this.#depth === 0) {
          if (this.#at !== bytes.length) throw broken()
          return { places, types, hasLongNumber: this.#hasLongNumber }
        }
        if (bytes[this.#at] === comma) break
        this.#close()
      }
      this.#at++
      this.#skipSpace()
      this.#enter()
    }
  }

  /** Enters an object or array. False if it is empty and therefore already closed. */
  #open(object: boolean): boolean {
    if (++this.#depth > this.#limits.jsonDepth) throw tooDeep(this.#limits)
    isObject[this.#depth] = object
    entriesOf[this.#depth] = 0
    this.#at++
    this.#skipSpace()
    if (this.#bytes[this.#at] !== (object ? closeBrace : closeBracket)) return true
    this.#close()
    return false
  }

  #close(): void {
    const object = isObject[this.#depth] === true
    if (this.#bytes[this.#at] !== (object ? closeBrace : closeBracket)) throw broken()
    this.#at++
    this.#depth--
  }

  /** Counts the next entry of an object or array, and skips its key. */
  #enter(): void {
    const { jsonEntries, jsonNodes } = this.#limits
    const entries = (entriesOf[this.#depth] as number) + 1
    entriesOf[this.#depth] = entries
    if (entries > jsonEntries || ++this.#nodes > jsonNodes) throw tooManyParts(this.#limits)
    this.#isType = false
    if (isObject[this.#depth] !== true) return
    const keyStart = this.#at
    if (this.#bytes[keyStart] !== quote) throw broken()
    const keyEnd = this.#skipString(keyStart)
    if (keyEnd - keyStart > longestName)
      throw invalid(`A name in the request body is longer than ${longestName} bytes.`)
    this.#at = keyEnd
    this.#skipSpace()
    if (this.#bytes[this.#at] !== colon) throw broken()
    this.#at++
    this.#skipSpace()
    if (this.#depth > 1) {
      this.#isType = this.#types.isType(keyStart, keyEnd, this.#hadEscape)
      return
    }
    this.#keyStart = keyStart
    this.#keyEnd = keyEnd
    this.#valueStart = this.#at
    this.#nodesBefore = this.#nodes
  }

  #skipSpace(): void {
    const bytes = this.#bytes
    let at = this.#at
    while (at < bytes.length && isSpace[bytes[at] as number] === 1) at++
    this.#at = at
  }

  #skipScalar(first: number | undefined): void {
    if (first === quote) {
      const start = this.#at + 1
      this.#at = this.#skipString(this.#at)
      if (this.#isType) this.#types.add(start, this.#at - 1, this.#hadEscape)
    } else if (first === 0x74) this.#skipWord('true')
    else if (first === 0x66) this.#skipWord('false')
    else if (first === 0x6e) this.#skipWord('null')
    else this.#skipNumber()
  }

  /** The offset after the string. */
  #skipString(from: number): number {
    const bytes = this.#bytes
    let at = from + 1
    this.#hadEscape = false
    for (;;) {
      at = endOfShortRun(bytes, at)
      if (at < bytes.length && endsRun[bytes[at] as number] === 0) at = this.#endOfRun(at)
      if (bytes[at] === quote) return at + 1
      if (bytes[at] !== backslash) throw broken()
      this.#hadEscape = true
      at = endOfEscapes(bytes, at)
    }
  }

  /** The next quote or backslash. Searches again only from a passed one on, so that the whole text is searched once. */
  #endOfRun(at: number): number {
    if (this.#nextQuote < at) this.#nextQuote = placeOf(quote, this.#bytes, at)
    if (this.#nextBackslash < at) this.#nextBackslash = placeOf(backslash, this.#bytes, at)
    const end = Math.min(this.#nextQuote, this.#nextBackslash)
    if (!isPrintable(this.#words, at, end)) throw broken()
    return end
  }

  #skipWord(word: string): void {
    for (let index = 1; index < word.length; index++) {
      if (this.#bytes[this.#at + index] !== word.charCodeAt(index)) throw broken()
    }
    this.#at += word.length
  }

  #skipNumber(): void {
    const bytes = this.#bytes
    const from = this.#at
    let at = from
    if (bytes[at] === 0x2d /* - */) at++
    if (bytes[at] === 0x30 /* 0 */) at++
    else at = skipDigits(bytes, at)
    if (bytes[at] === 0x2e /* . */) at = skipDigits(bytes, at + 1)
    if (bytes[at] === 0x65 || bytes[at] === 0x45 /* e E */) {
      this.#hasLongNumber = true
      at++
      if (bytes[at] === 0x2b || bytes[at] === 0x2d) at++
      at = skipDigits(bytes, at)
    }
    if (at - from >= longNumber) this.#hasLongNumber = true
    this.#at = at
  }
}

/**
 * Whether no byte between `from` and `end` is a control character. Checks four bytes at a time, for long strings: in the
 * order that most processors have, because none is needed.
 */
function isPrintable(words: DataView, from: number, end: number): boolean {
  let found = 0
  let at = from
  for (; at + 8 <= end; at += 8) {
    const left = words.getInt32(at, true)
    const right = words.getInt32(at + 4, true)
    // Subtracting 0x20 sets the high bit of smaller bytes; `& ~` excludes bytes that had it set before.
    found |= ((left - 0x20202020) & ~left) | ((right - 0x20202020) & ~right)
  }
  if ((found & 0x80808080) !== 0) return false
  for (; at < end; at++) if (words.getUint8(at) < 0x20) return false
  return true
}

function placeOf(byte: number, bytes: Buffer, from: number): number {
  const place = bytes.indexOf(byte, from)
  return place < 0 ? bytes.length : place
}

/** The offset of the first byte that is not plain, or where the loop stops and the native search takes over. */
function endOfShortRun(bytes: Buffer, from: number): number {
  const near = Math.min(from + shortString, bytes.length)
  let at = from
  while (at < near && endsRun[bytes[at] as number] === 0) at++
  return at
}

function skipDigits(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && isDigit[bytes[at] as number] === 1) at++
  if (at === from) throw broken()
  return at
}
