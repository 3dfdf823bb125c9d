/** Images, audio and files in content: kept by their hash. */
import { createHash, type Hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LoggedMedia } from './content.ts'

/** Bytes that are worked on in one turn of the event loop. */
const sliceBytes = 128 * 1024
const unknownType = 'application/octet-stream'

const [quote, backslash] = [0x22, 0x5c]
const base64 = /^[\w+/-]*={0,2}$/
const dataUrl = /^data:([\w.+/-]*)[^,"]{0,200};base64,/i

/** The media of one call. */
export class MediaNotes {
  readonly #notes = new Map<string, { reference: string; type: string; bytes: number }>()
  readonly #least: number

  /** `least`: the bytes from which on media are not kept. */
  constructor(least: number) {
    this.#least = least
  }

  get list(): LoggedMedia[] {
    return [...this.#notes.values()]
  }

  /** What stands for media of this hash. */
  note(digest: string, type: string, bytes: number): string {
    const reference = `sha256:${digest}`
    const known = this.#notes.get(reference)
    if (known === undefined) this.#notes.set(reference, { reference, type: type || unknownType, bytes })
    else if (known.type === unknownType && type !== '') known.type = type
    return reference
  }

  /** What stands for a file. */
  async file(bytes: Uint8Array, type: string): Promise<string> {
    const hash = createHash('sha256')
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      if (at > 0) await nextTurn()
      hash.update(bytes.subarray(at, at + sliceBytes))
    }
    return this.note(hash.digest('hex'), type, bytes.length)
  }

  /**
   * JSON, or events with JSON, in which a short text in base64 stands in place of each large one: without parsing, and in several
   * turns of the event loop, because a body of media may be long. `named` makes references of these texts.
   */
  async lightened(bytes: Buffer): Promise<Buffer> {
    if (bytes.length < this.#least) return bytes
    const pieces: Buffer[] = []
    let kept = 0
    let rested = 0
    for (let start = bytes.indexOf(quote) + 1; start > 0;) {
      const end = endOf(bytes, start)
      const found = end - start < this.#least ? undefined : await this.#inText(bytes.subarray(start, end))
      if (found !== undefined) {
        pieces.push(bytes.subarray(kept, start + found.head), Buffer.from(base64Of(found.reference)))
        kept = end
      }
      if (end - rested > sliceBytes) {
        rested = end
        await nextTurn()
      }
      start = bytes.indexOf(quote, end + 1) + 1
    }
    return kept === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(kept)])
  }

  /** A value with references in place of its large media, and of what `lightened` has put there. */
  named<Value>(value: Value): Value {
    if (typeof value === 'string') return (this.#reference(value) ?? value) as Value
    if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
    if (Array.isArray(value)) return value.map((each: unknown) => this.named(each)) as Value
    const { base64: data, mediaType = '' } = value as { base64?: unknown; mediaType?: string }
    const reference = typeof data === 'string' ? this.#reference(data, mediaType) : undefined
    // The source of media in a conversation.
    if (reference !== undefined) return { url: reference, mediaType } as Value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.named(each)])) as Value
  }

  /** Undefined for a text that is no large media. */
  #reference(text: string, mediaType = ''): string | undefined {
    if (text.length < marked) return undefined
    const [head = '', type = mediaType] = dataUrl.exec(text.slice(0, 300)) ?? []
    const data = text.slice(head.length)
    if (data.length === marked && this.#notes.has(decoded(data))) {
      const { bytes } = this.#notes.get(decoded(data)) as LoggedMedia
      return this.note(decoded(data).slice('sha256:'.length), type, bytes)
    }
    if (data.length < this.#least || !base64.test(data)) return undefined
    const bytes = Buffer.from(data, 'base64')
    return this.note(createHash('sha256').update(bytes).digest('hex'), type, bytes.length)
  }

  /** The media that the text of a JSON string is. `head`: the length of what precedes the base64. */
  async #inText(text: Buffer): Promise<{ readonly head: number; readonly reference: string } | undefined> {
    const [head = '', type = ''] = dataUrl.exec(text.toString('latin1', 0, 300).replaceAll('\\/', '/')) ?? []
    const start = head === '' ? 0 : text.indexOf(',') + 1
    const hashing = new Base64Hash()
    for (let at = start; at < text.length;) {
      let end = Math.min(at + sliceBytes, text.length)
      if (text[end - 1] === backslash) end++
      if (!hashing.add(text.toString('latin1', at, end).replaceAll('\\/', '/'))) return undefined
      at = end
      if (at < text.length) await nextTurn()
    }
    const { digest, bytes } = hashing.end()
    return { head: start, reference: this.note(digest, type, bytes) }
  }
}

/** The hash of what is written in base64, piece by piece. */
class Base64Hash {
  readonly #hash: Hash = createHash('sha256')
  #rest = ''
  #bytes = 0

  /** Returns false if the piece is no base64. */
  add(piece: string): boolean {
    if (!base64.test(piece)) return false
    const text = this.#rest + piece
    const whole = text.length - (text.length % 4)
    this.#rest = text.slice(whole)
    this.#take(text.slice(0, whole))
    return true
  }

  end(): { readonly digest: string; readonly bytes: number } {
    this.#take(this.#rest)
    return { digest: this.#hash.digest('hex'), bytes: this.#bytes }
  }

  #take(text: string): void {
    const bytes = Buffer.from(text, 'base64')
    this.#bytes += bytes.length
    this.#hash.update(bytes)
  }
}

/** Where the text of a JSON string ends: at its quote, or at the end of the bytes. */
function endOf(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(quote, start); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0
    while (bytes[end - 1 - escapes] === backslash && end - 1 - escapes >= start) escapes++
    if (escapes % 2 === 0) return end
  }
  return bytes.length
}

/** Valid base64, because readers of requests check it. */
function base64Of(reference: string): string {
  return Buffer.from(reference).toString('base64')
}

/** The length of a reference in base64. */
const marked = base64Of(`sha256:${'0'.repeat(64)}`).length

function decoded(text: string): string {
  return Buffer.from(text, 'base64').toString('latin1')
}
