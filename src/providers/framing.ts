/**
 * The bytes of an event stream → whole frames, by the rules of the WHATWG: one byte order mark is skipped, lines end
 * with LF, CR or CRLF, a blank line ends a frame. Cuts between network reads make no difference. Ids and `retry` are
 * not kept: a broken answer of a model cannot be resumed.
 */
import { tryNext } from './failure.ts'

/** One dispatched event. */
export interface VendorEvent {
  /** `message` where the vendor names none. */
  readonly name: string
  readonly data: string
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const mark = [0xef, 0xbb, 0xbf]

/** Room for an inline image in one event. */
const longestFrame = 16 * 1024 * 1024

/** Cuts a stream into slabs of whole frames whose lines end with line feeds, whatever they ended with before. */
export class Framer {
  readonly #limit: number
  /** Bytes of the mark seen so far; -1 when the stream has begun. */
  #marked = 0
  #afterReturn = false
  /** The beginning of the next frame: the first `#size` bytes. */
  #held: Buffer = Buffer.alloc(0)
  #size = 0

  /** `limit`: bytes of one frame at most. */
  constructor(limit: number = longestFrame) {
    this.#limit = limit
  }

  /** All frames that are whole now, in one piece; undefined while there is none. Throws when a frame does not end. */
  push(bytes: Buffer): Buffer | undefined {
    const piece = this.#withoutReturns(this.#marked < 0 ? bytes : this.#withoutMark(bytes))
    const end = this.#endOfWhole(piece)
    if (end === 0) {
      this.#hold(piece)
      return undefined
    }
    const whole = end === piece.length ? piece : piece.subarray(0, end)
    const slab = this.#size === 0 ? whole : Buffer.concat([this.#held.subarray(0, this.#size), whole])
    this.#size = 0
    if (end < piece.length) this.#hold(piece.subarray(end))
    return slab
  }

  /** The byte after the last blank line; 0 where there is none. */
  #endOfWhole(piece: Buffer): number {
    if (piece[piece.length - 1] === lineFeed && piece[piece.length - 2] === lineFeed) return piece.length
    const last = piece.lastIndexOf('\n\n')
    if (last >= 0) return last + 2
    const straddles = piece[0] === lineFeed && this.#size > 0 && this.#held[this.#size - 1] === lineFeed
    return straddles ? 1 : 0
  }

  /** What came after the last whole frame. By the standard it is no event. */
  rest(): string {
    return this.#held.toString('utf8', 0, this.#size)
  }

  #hold(piece: Buffer): void {
    const size = this.#size + piece.length
    if (size > this.#limit) throw tryNext(new Error('the vendor sent an event without end'))
    if (size > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(size, this.#held.length * 2))
      this.#held.copy(larger, 0, 0, this.#size)
      this.#held = larger
    }
    piece.copy(this.#held, this.#size)
    this.#size = size
  }

  #withoutMark(bytes: Buffer): Buffer {
    for (let at = 0; at < bytes.length; at++) {
      if (this.#marked === mark.length) {
        this.#marked = -1
        return bytes.subarray(at)
      }
      if (bytes[at] !== mark[this.#marked]) {
        // No mark: what looked like the beginning of one came in earlier pieces, or stands in this one.
        const looked = this.#marked
        this.#marked = -1
        return looked > at ? Buffer.concat([Buffer.from(mark.slice(0, looked - at)), bytes]) : bytes
      }
      this.#marked++
    }
    return bytes.subarray(bytes.length)
  }

  #withoutReturns(bytes: Buffer): Buffer {
    if (!this.#afterReturn && !bytes.includes(carriageReturn)) return bytes
    const out = Buffer.allocUnsafe(bytes.length)
    let size = 0
    for (const byte of bytes) {
      const second = byte === lineFeed && this.#afterReturn
      this.#afterReturn = byte === carriageReturn
      if (!second) out[size++] = byte === carriageReturn ? lineFeed : byte
    }
    return out.subarray(0, size)
  }
}

/** The event in the text of one frame; undefined for a frame without data, such as a comment. */
export function eventIn(frame: string): VendorEvent | undefined {
  let name = ''
  let data: string | undefined
  for (const line of frame.split('\n')) {
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    if (field !== 'data' && field !== 'event') continue
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') name = value
    else data = data === undefined ? value : `${data}\n${value}`
  }
  return data === undefined ? undefined : { name: name || 'message', data }
}
