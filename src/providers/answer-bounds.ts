/**
 * Upper bounds of the structure of a vendor's response. A limit on bytes alone does not limit the work of parsing: a few
 * megabytes can hold a million objects, or be nested too deeply for a recursive reader. The bounds are far above what
 * models produce and far below what blocks the process.
 */
import { type ProviderError, tryNext } from './failure.ts'

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

const usualBounds: StructureBounds = { depth: 128, values: 1_000_000, members: 10_000, costly: 250_000 }

/** For embeddings, which consist of very many numbers. */
export const vectorBounds: StructureBounds = { ...usualBounds, values: 4_000_000 }

/** The error for an exceeded bound. `what` is a plural, such as `tool calls`. */
export function tooMany(what: string, bound: number): ProviderError {
  return tryNext(new Error(`the vendor's response has more than ${bound} ${what}`))
}

const quote = 0x22
const backslash = 0x5c

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
    for (let at = 0; at < bytes.length; at++) {
      if (this.#inText) {
        at = this.#endOfText(bytes, at)
        continue
      }
      switch (bytes[at]) {
        case quote:
          this.#inText = true
          this.#texts++
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
          break
        case 0x3a: // :
          this.#name()
          break
        case 0x2c: // ,
          this.#commas++
      }
    }
    const { values, costly } = this.#bounds
    if (this.#commas + this.#lists + this.#objects > values) throw tooMany('values', values)
    if (this.#objects + this.#texts - this.#names > costly) throw tooMany('objects and texts', costly)
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
    let at = from
    if (this.#escaped) {
      this.#escaped = false
      at++
    }
    for (; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === quote) {
        this.#inText = false
        return at
      }
      if (byte === backslash && ++at === bytes.length) this.#escaped = true
    }
    return at
  }
}

/** Shorter texts are not checked: they cannot be deep or wide enough to matter. */
const harmless = 1_024

/** Throws if a JSON text exceeds the usual bounds. */
export function requireBounded(text: string): void {
  if (text.length > harmless) new Structure().add(Buffer.from(text))
}
