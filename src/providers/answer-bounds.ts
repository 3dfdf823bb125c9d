/**
 * Upper bounds of the structure of a vendor's response. A limit on bytes alone does not limit the work of parsing: a few
 * megabytes can hold a million objects, or be nested too deeply for a recursive reader. The bounds are far above what
 * models produce and far below what blocks the process.
 */
import { oversized, type ProviderError, unreadable } from './failure.ts'

/** Bytes of a response that is read as a whole, unless a provider's options say otherwise. */
export const answerBytes: number = 64 * 1024 * 1024
/** Bytes of a streamed response, unless a provider's options say otherwise. */
export const streamBytes: number = 256 * 1024 * 1024
/** Choices per response. */
export const maxChoices = 10_000
/** Tool calls per choice. */
export const maxToolCalls = 1_000
/** Events per stream. */
export const maxEvents = 1_000_000
/** Lines per event. */
export const maxLines = 10_000

/** Upper bounds for one JSON text. */
export interface StructureBounds {
  readonly depth: number
  /** Members of objects and items of lists. */
  readonly values: number
  /** Members of one object. */
  readonly members: number
  /** Objects, and strings that are not member names: parsing one takes many times as long as parsing a number. */
  readonly costly: number
}

/** What to check of a response while it arrives. `later`: nothing, because it is checked only if it is parsed. */
export type StructureCheck = StructureBounds | 'later'

/** For all answers but embeddings. */
export const usualBounds: StructureBounds = { depth: 128, values: 1_000_000, members: 10_000, costly: 250_000 }

/** For embeddings, which consist of very many numbers. */
const vectorBounds: StructureBounds = { ...usualBounds, values: 4_000_000 }

/** The error for an exceeded bound that no model's answer reaches. `what` is a plural, such as `tool calls`. */
export function tooMany(what: string, bound: number): ProviderError {
  return unreadable(`the vendor's response has more than ${bound} ${what}`, 'next')
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a

/** Checks the structure of a JSON text while its bytes arrive, before it is parsed. It does not validate the JSON. */
export class Structure {
  readonly #bounds: StructureBounds
  #depth = 0
  #lists = 0
  #commas = 0
  #texts = 0
  #names = 0
  #objects = 0
  /** By depth, members of the object that is open there. */
  readonly #members: number[] = []
  #inText = false
  #escaped = false

  constructor(bounds: StructureBounds = usualBounds) {
    this.#bounds = bounds
  }

  /** Throws if the text exceeds a bound. */
  add(bytes: Uint8Array): void {
    let at = this.#inText ? this.#endOfText(bytes, 0) + 1 : 0
    let commas = 0
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number
      // Most bytes of a long list are digits.
      if (byte === comma) commas++
      else if (byte === quote) {
        this.#texts++
        at = this.#endOfText(bytes, at + 1)
      } else if (byte >= colon) this.#structural(byte)
    }
    this.#commas += commas
    const { values, costly } = this.#bounds
    if (this.#commas + this.#lists + this.#objects > values) throw oversized(`${values} values`, 0)
    if (this.#objects + this.#texts - this.#names > costly) throw oversized(`${costly} objects and texts`, 0)
  }

  #structural(byte: number): void {
    switch (byte) {
      case colon:
        this.#name()
        break
      case 0x7b: // {
        this.#objects++
        this.#open()
        break
      case 0x5b: // [
        this.#lists++
        this.#open()
        break
      case 0x7d: // }
      case 0x5d: // ]
        this.#depth--
    }
  }

  #open(): void {
    this.#members[++this.#depth] = 0
    if (this.#depth > this.#bounds.depth) throw tooMany('levels', this.#bounds.depth)
  }

  #name(): void {
    this.#names++
    const members = (this.#members[this.#depth] ?? 0) + 1
    this.#members[this.#depth] = members
    if (members > this.#bounds.members) throw tooMany('members in one object', this.#bounds.members)
  }

  /** Index of the closing quote; the length of the bytes if it is not among them. */
  #endOfText(bytes: Uint8Array, from: number): number {
    let at = this.#escaped ? from + 1 : from
    this.#escaped = false
    while (at < bytes.length) {
      // Searching natively costs more than it saves for short texts, and for those with many escaped quotes.
      const near = Math.min(at + nearBytes, bytes.length)
      for (; at < near; at++) {
        const byte = bytes[at]
        if (byte === quote) return this.#leaveText(at)
        if (byte === backslash) at++
      }
      if (at >= bytes.length) break
      const end = bytes.indexOf(quote, at)
      const escapes = backslashesBefore(bytes, end < 0 ? bytes.length : end, at)
      if (end < 0) at = bytes.length + (escapes % 2)
      else if (escapes % 2 === 0) return this.#leaveText(end)
      else at = end + 1
    }
    this.#inText = true
    this.#escaped = at > bytes.length
    return bytes.length
  }

  #leaveText(at: number): number {
    this.#inText = false
    return at
  }
}

/** Bytes of a text that are read one by one before the rest is searched. */
const nearBytes = 128

function backslashesBefore(bytes: Uint8Array, end: number, start: number): number {
  let at = end
  while (at > start && bytes[at - 1] === backslash) at--
  return end - at
}

/** Shorter texts are not checked: they cannot be deep or wide enough to matter. */
const harmless = 1_024

/** Throws if a list of vectors exceeds its bounds. */
export function requireBoundedVectors(text: Uint8Array): void {
  new Structure(vectorBounds).add(text)
}

/** Throws if a JSON text exceeds the usual bounds. */
export function requireBounded(text: string): void {
  if (text.length > harmless) new Structure().add(Buffer.from(text))
}
