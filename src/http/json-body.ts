/** A JSON request body that is parsed field by field on demand, and forwarded as the original bytes. */
import { isUtf8 } from 'node:buffer'
import { GatewayError, invalid } from '../errors.ts'
import { perMember, scanObject, type Places, type Scan } from './json-scan.ts'
import { checkValue, countEntries } from './json-value.ts'
import { noTypes, typesIn, type Types } from './json-types.ts'
import type { Sizes } from './sizes.ts'

/** A parsed JSON object. */
export type JsonObject = Record<string, unknown>

/** Up to this many bytes, parsing the whole body is cheaper than parsing single fields. */
const wholeBytes = 16_384

/** From this many bytes on, work on a body is split over several turns of the event loop. */
const largeBytes = 262_144

/** The byte offsets of a top-level field: its start, the start of its value, and its end (exclusive). */
interface Member {
  readonly start: number
  readonly valueStart: number
  readonly end: number
  /** The members and items in its value, at all levels. */
  readonly entries: number
}

/** Of a text that was not scanned. */
const unknownTypes: Scan['types'] = []

/** A validated JSON object: syntax, UTF-8, depth and number of parts are within the limits. */
export class JsonBody {
  /** Undefined if only the parsed value is known. */
  #places: Places | undefined
  #types: Scan['types'] = unknownTypes
  #hasLongNumber = false
  #hasRepeats: boolean | undefined
  #found: ReadonlyMap<string, Member> | undefined
  #bytes: Buffer | undefined
  #value: JsonObject | undefined
  /** Fields of a large body, which must not be parsed twice. */
  #parsed: Map<string, unknown> | undefined
  /** Of the released text. */
  #length: number | undefined

  private constructor(bytes: Buffer | undefined, places: Places | undefined, value: JsonObject | undefined) {
    this.#bytes = bytes
    this.#places = places
    this.#value = value
  }

  /** From JSON text. Throws 400 for anything but one JSON object in UTF-8 within `sizes`, 413 for too many bytes. */
  static fromBytes(bytes: Buffer, sizes: Sizes): JsonBody {
    if (bytes.length > sizes.jsonBytes) throw tooLarge(sizes.jsonBytes)
    if (!isUtf8(bytes)) throw invalid('The request body is not valid UTF-8.')
    const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    const text = marked ? bytes.subarray(3) : bytes
    const { places, types, hasLongNumber } = scanObject(text, sizes)
    const body = new JsonBody(text, places, undefined)
    body.#types = types
    body.#hasLongNumber = hasLongNumber
    return body
  }

  /** From a value that the host's parser made. Applies the same limits, without recursion. */
  static fromValue(value: unknown, sizes: Sizes): JsonBody {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalid('The request body must be a JSON object.')
    }
    checkValue(value, sizes)
    return new JsonBody(undefined, undefined, value as JsonObject)
  }

  /** An object whose fields are already serialized. */
  static fromFields(fields: ReadonlyMap<string, Buffer>): JsonBody {
    const pieces: Buffer[] = []
    const places: number[] = []
    // Behind the brace, and later behind commas.
    let at = 1
    for (const [name, value] of fields) {
      const key = Buffer.from(JSON.stringify(name))
      const start = at + key.length + 1
      places.push(at, at + key.length, start, start + value.length, 0)
      pieces.push(Buffer.concat([key, Buffer.from(':'), value]))
      at = start + value.length + 1
    }
    return new JsonBody(join(pieces), places, undefined)
  }

  /** Whether reading any field is cheap: the body is short or already parsed. */
  get isSmall(): boolean {
    return this.#value !== undefined || this.bytes.length <= wholeBytes
  }

  /** Whether work on the body should be split over several turns of the event loop. */
  get isLarge(): boolean {
    return this.length >= largeBytes
  }

  /**
   * Whether the text has a number that parsing may change: one with 16 or more characters, or with an exponent. False if only
   * the parsed value is known.
   */
  get hasLongNumber(): boolean {
    return this.#hasLongNumber
  }

  /** The body as JSON text in UTF-8. */
  get bytes(): Buffer {
    if (this.#length !== undefined) throw new TypeError('the request body was released')
    return (this.#bytes ??= Buffer.from(JSON.stringify(this.#value)))
  }

  /** The length of the text in bytes. */
  get length(): number {
    return this.#length ?? this.bytes.length
  }

  /** The whole body, parsed on first access. Treat it as read-only. */
  get value(): JsonObject {
    return (this.#value ??= this.#parse())
  }

  /** The names of the top-level fields. */
  names(): string[] {
    return this.isSmall ? Object.keys(this.value) : [...this.#members().keys()]
  }

  /** The value of a top-level field; in a longer body only that field is parsed. */
  get(name: string): unknown {
    if (this.isSmall) {
      const field = this.value[name]
      return field === undefined || Object.hasOwn(this.value, name) ? field : undefined
    }
    const member = this.#members().get(name)
    if (member === undefined) return undefined
    const parsed = (this.#parsed ??= new Map())
    if (!parsed.has(name)) parsed.set(name, JSON.parse(this.bytes.toString('utf8', member.valueStart, member.end)))
    return parsed.get(name)
  }

  /** The text of a top-level field's value; undefined if the field is absent. */
  textOf(name: string): Uint8Array | undefined {
    const member = this.#members().get(name)
    if (member !== undefined) return this.bytes.subarray(member.valueStart, member.end)
    const value = this.get(name)
    return value === undefined ? undefined : Buffer.from(JSON.stringify(value))
  }

  /** Length in bytes of a top-level field's value in the text; 0 if the field is absent or the text is not known. */
  sizeOf(name: string): number {
    const member = this.#members().get(name)
    return member === undefined ? 0 : member.end - member.valueStart
  }

  /** Whether a top-level field is an array. Does not parse it if the text is known. */
  isList(name: string): boolean {
    const member = this.#members().get(name)
    return member === undefined ? Array.isArray(this.get(name)) : this.bytes[member.valueStart] === 0x5b
  }

  /**
   * Whether an object inside a top-level field has a duplicate key, of which parsers take either the first or the last.
   * False if the text is not known.
   */
  repeatsWithin(name: string): boolean {
    const member = this.#members().get(name)
    if (member === undefined) return false
    return member.entries !== countEntries(this.get(name))
  }

  /** The members named `type` inside a top-level field, without parsing it; undefined if they are not known. */
  typesWithin(name: string): Types | undefined {
    if (this.#places === undefined) return typesIn(this.get(name))
    if (this.#types === undefined) return noTypes
    return this.#repeats() ? undefined : this.#types[this.#placeOf(name) / perMember]
  }

  /** Where a top-level field is in the places; negative if it is absent or written with escapes. */
  #placeOf(name: string): number {
    const places = this.#places ?? []
    for (let at = 0; at < places.length; at += perMember) {
      if (isKey(this.bytes, places[at] as number, places[at + 1] as number, name)) return at
    }
    return -perMember
  }

  /** The text with top-level fields replaced, added or (undefined) removed; everything else byte for byte. */
  with(changes: JsonObject): Buffer {
    // The vendor's parser may take another value of a duplicate key than ours: serialized again, only one is left.
    const repeats = this.#repeats()
    if (!repeats && sizeOf(changes) === 0) return this.bytes
    if (this.#places === undefined || repeats) return Buffer.from(JSON.stringify({ ...this.value, ...changes }))
    const members = this.#members()
    const pieces: (Buffer | string)[] = []
    for (const [name, { start, end }] of members) {
      if (!Object.hasOwn(changes, name)) pieces.push(this.bytes.subarray(start, end))
      else if (changes[name] !== undefined) pieces.push(print(name, changes[name]))
    }
    for (const [name, value] of Object.entries(changes)) {
      if (value !== undefined && !members.has(name)) pieces.push(print(name, value))
    }
    return join(pieces)
  }

  /** Lets go of the text and of all fields but those in `keep`: the value of every other field is then null. */
  release(keep: readonly string[]): void {
    const kept = Object.fromEntries(this.names().map((name) => [name, keep.includes(name) ? this.get(name) : null]))
    this.#length = this.length
    this.#bytes = this.#places = this.#found = this.#hasRepeats = undefined
    this.#parsed = undefined
    this.#value = kept
  }

  #parse(): JsonObject {
    if (this.isSmall) return JSON.parse(this.bytes.toString('utf8')) as JsonObject
    return Object.fromEntries(this.names().map((name) => [name, this.get(name)]))
  }

  /** Whether the text has a duplicate key at the top. */
  #repeats(): boolean {
    return (this.#hasRepeats ??= this.#findRepeats())
  }

  #findRepeats(): boolean {
    const names = this.isSmall ? sizeOf(this.value) : this.#members().size
    return this.#places !== undefined && names * perMember !== this.#places.length
  }

  /** By name; of duplicates the last one, as in `JSON.parse`. Empty if the text is not known. */
  #members(): ReadonlyMap<string, Member> {
    return (this.#found ??= membersOf(this.bytes, this.#places ?? []))
  }
}

/** Whether work on so much JSON text should be split over several turns of the event loop. */
export function isLarge(bytes: Uint8Array): boolean {
  return bytes.length >= largeBytes
}

function membersOf(bytes: Buffer, places: Places): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>()
  for (let at = 0; at < places.length; at += perMember) {
    const [start = 0, keyEnd = 0, valueStart = 0, end = 0, entries = 0] = places.slice(at, at + perMember)
    members.set(nameIn(bytes.toString('utf8', start, keyEnd)), { start, valueStart, end, entries })
  }
  return members
}

/** Whether a key in the text is `name`, written without escapes. */
function isKey(bytes: Buffer, start: number, end: number, name: string): boolean {
  if (end - start !== name.length + 2) return false
  for (let at = 0; at < name.length; at++) if (bytes[start + 1 + at] !== name.charCodeAt(at)) return false
  return true
}

/** The number of an object's own fields. */
function sizeOf(value: JsonObject): number {
  let size = 0
  for (const name in value) if (Object.hasOwn(value, name)) size++
  return size
}

function nameIn(key: string): string {
  return key.includes('\\') ? (JSON.parse(key) as string) : key.slice(1, -1)
}

function print(name: string, value: unknown): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`
}

function join(pieces: (Buffer | string)[]): Buffer {
  let size = pieces.length + 1
  for (const piece of pieces) size += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
  const joined = Buffer.allocUnsafe(Math.max(size, 2))
  let at = 0
  for (const piece of pieces) {
    joined[at] = at === 0 ? 0x7b : 0x2c
    at += 1
    at += typeof piece === 'string' ? joined.write(piece, at) : piece.copy(joined, at)
  }
  if (at === 0) joined[at++] = 0x7b
  joined[at] = 0x7d
  return joined
}

/** The 413 error for a body longer than `bytes`. */
export function tooLarge(bytes: number): GatewayError {
  return new GatewayError('request_too_large', {
    message: `The request body is larger than the ${bytes} bytes this server accepts.`,
  })
}
