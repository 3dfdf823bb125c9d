/** A JSON request body that is parsed only as far as somebody looks, and forwarded as the bytes it came in. */
import { isUtf8 } from 'node:buffer'
import { GatewayError, invalid } from '../errors.ts'
import { scanObject, type Places } from './json-scan.ts'
import type { Sizes } from './sizes.ts'

export type JsonObject = Record<string, unknown>

/** Bodies up to this many bytes are parsed whole: that is cheaper than field by field. */
const wholeBytes = 16_384

/** Bodies from this many bytes on are worked on in several turns of the event loop. */
const largeBytes = 1_048_576

/** A top-level field in the text: its first byte, the first byte of its value and the byte after it. */
interface Member {
  readonly start: number
  readonly valueStart: number
  readonly end: number
}

/** A checked JSON object: grammar, UTF-8, depth and counts are known to be good. */
export class JsonBody {
  /** Undefined where the text is not known. */
  readonly #places: Places | undefined
  #found: ReadonlyMap<string, Member> | undefined
  #bytes: Buffer | undefined
  #value: JsonObject | undefined

  private constructor(bytes: Buffer | undefined, places: Places | undefined, value: JsonObject | undefined) {
    this.#bytes = bytes
    this.#places = places
    this.#value = value
  }

  /** Throws 400 for anything but one JSON object in UTF-8 within `sizes`, 413 for too many bytes. */
  static fromBytes(bytes: Buffer, sizes: Sizes): JsonBody {
    if (bytes.length > sizes.jsonBytes) throw tooLarge(sizes.jsonBytes)
    if (!isUtf8(bytes)) throw invalid('The request body is not valid UTF-8.')
    const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    const text = marked ? bytes.subarray(3) : bytes
    return new JsonBody(text, scanObject(text, sizes), undefined)
  }

  /** For a value that the host's own parser left: the same limits, walked without recursion. */
  static fromValue(value: unknown, sizes: Sizes): JsonBody {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalid('The request body must be a JSON object.')
    }
    checkValue(value, sizes)
    return new JsonBody(undefined, undefined, value as JsonObject)
  }

  /** Whether the whole body is small enough, or already parsed, so that looking inside costs little. */
  get isSmall(): boolean {
    return this.#value !== undefined || this.bytes.length <= wholeBytes
  }

  /** Whether what is done with the body should not be done in one turn of the event loop. */
  get isLarge(): boolean {
    return isLarge(this.bytes)
  }

  /** The body as JSON text in UTF-8. */
  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.from(JSON.stringify(this.#value)))
  }

  /** The whole body, parsed when first asked for. Treat it as read-only. */
  get value(): JsonObject {
    return (this.#value ??= JSON.parse(this.bytes.toString('utf8')) as JsonObject)
  }

  /** The names of the top-level fields. */
  names(): string[] {
    return this.isSmall ? Object.keys(this.value) : [...this.#members().keys()]
  }

  /** One top-level field, parsed alone where the body is large. */
  get(name: string): unknown {
    if (this.isSmall) return Object.hasOwn(this.value, name) ? this.value[name] : undefined
    const member = this.#members().get(name)
    if (member === undefined) return undefined
    return JSON.parse(this.bytes.toString('utf8', member.valueStart, member.end))
  }

  /** Bytes that the value of a top-level field takes in the text; 0 when it is absent or the text is unknown. */
  sizeOf(name: string): number {
    const member = this.#members().get(name)
    return member === undefined ? 0 : member.end - member.valueStart
  }

  /** Whether a top-level field is a list, told by its first byte where the text is known. */
  isList(name: string): boolean {
    const member = this.#members().get(name)
    return member === undefined ? Array.isArray(this.get(name)) : this.bytes[member.valueStart] === 0x5b
  }

  /**
   * Whether an object inside a top-level field has a name twice: some parsers take the first of them, others the last.
   * False where the text is not known.
   */
  repeatsWithin(name: string): boolean {
    const member = this.#members().get(name)
    if (member === undefined) return false
    return namesIn(this.bytes.subarray(member.valueStart, member.end)) !== countNames(this.get(name))
  }

  /** The text with some top-level fields replaced, added, or (undefined) left out; the rest byte for byte. */
  with(changes: JsonObject): Buffer {
    const printed = this.#places === undefined
    // A name that stands twice means one thing to us and perhaps another to the next parser: print it anew.
    const anew = this.#repeats()
    if (!anew && Object.keys(changes).length === 0) return this.bytes
    if (printed || anew) return Buffer.from(JSON.stringify({ ...this.value, ...changes }))
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

  #repeats(): boolean {
    const names = this.isSmall ? Object.keys(this.value).length : this.#members().size
    return this.#places !== undefined && names * 4 !== this.#places.length
  }

  /** By name, of a repeated one the last, as `JSON.parse` takes it. Empty where the text is not known. */
  #members(): ReadonlyMap<string, Member> {
    return (this.#found ??= membersOf(this.bytes, this.#places ?? []))
  }
}

export function isLarge(bytes: Uint8Array): boolean {
  return bytes.length >= largeBytes
}

function membersOf(bytes: Buffer, places: Places): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>()
  for (let at = 0; at < places.length; at += 4) {
    const [start = 0, keyEnd = 0, valueStart = 0, end = 0] = places.slice(at, at + 4)
    members.set(nameIn(bytes.toString('utf8', start, keyEnd)), { start, valueStart, end })
  }
  return members
}

/** How many names there are in a JSON text: each is followed by a colon that is in no string. */
function namesIn(text: Buffer): number {
  let names = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === 0x3a /* : */) names++
    if (text[at] !== 0x22 /* " */) continue
    for (at++; at < text.length && text[at] !== 0x22; at++) if (text[at] === 0x5c /* \\ */) at++
  }
  return names
}

function countNames(root: unknown): number {
  const open = [root]
  let names = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const parts: unknown[] = Object.values(next)
    if (!Array.isArray(next)) names += parts.length
    for (const part of parts) if (part !== undefined) open.push(part)
  }
  return names
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

function checkValue(root: object, sizes: Sizes): void {
  const open: { value: object; depth: number }[] = [{ value: root, depth: 1 }]
  let nodes = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > sizes.jsonDepth) throw invalid(`The request body is nested deeper than ${sizes.jsonDepth} levels.`)
    const parts: unknown[] = Array.isArray(next.value) ? next.value : Object.values(next.value)
    nodes += parts.length
    if (parts.length > sizes.jsonEntries || nodes > sizes.jsonNodes) {
      throw invalid(
        `The request body has too many parts: at most ${sizes.jsonEntries} in one list or object, ${sizes.jsonNodes} in all.`,
      )
    }
    for (const part of parts) {
      if (typeof part === 'object' && part !== null) open.push({ value: part, depth: next.depth + 1 })
    }
  }
}

export function tooLarge(bytes: number): GatewayError {
  return new GatewayError('request_too_large', {
    message: `The request body is larger than the ${bytes} bytes this server accepts.`,
  })
}
