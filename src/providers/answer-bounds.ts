/**
 * How much structure an answer of a vendor may have. A bound on bytes alone does not bound the work of reading it: a few
 * megabytes can hold a million objects, or be nested deeper than any reader can follow.
 */
import { type ProviderError, tryNext } from './failure.ts'

/** Far above what models write, far below what blocks a process. */
export const mostChoices = 10_000
/** Of one choice. */
export const mostToolCalls = 1_000
/** Of one stream. */
export const mostEvents = 1_000_000
/** Of one event. */
export const mostLines = 10_000

/** Of one JSON text. */
export interface StructureBounds {
  readonly depth: number
  /** Members of objects and items of lists. */
  readonly values: number
  /** Members of one object. */
  readonly members: number
  /** Objects, and texts that are no names: they take many times as long to read as numbers. */
  readonly costly: number
}

const usualBounds: StructureBounds = { depth: 128, values: 1_000_000, members: 10_000, costly: 250_000 }

/** Lists of vectors: numbers, and very many of them. */
export const vectorBounds: StructureBounds = { ...usualBounds, values: 4_000_000 }

/** `what`: such as `tool calls`. Another deployment may do better, the same one hardly. */
export function tooMany(what: string, bound: number): ProviderError {
  return tryNext(new Error(`the vendor's answer has more than ${bound} ${what}`))
}

const quote = 0x22
const backslash = 0x5c

/** Reads along a JSON text while its bytes arrive, before it is parsed. Whether it is JSON at all is not looked at. */
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

  /** Throws as soon as a bound is passed. */
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

  /** The place of the closing quote, or the end of the bytes. */
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

/** Texts shorter than that can neither be deep nor wide enough to do harm. */
const harmless = 1_024

/** Throws when a text has more structure than a reader of it should meet. */
export function requireBounded(text: string): void {
  if (text.length > harmless) new Structure().add(Buffer.from(text))
}
