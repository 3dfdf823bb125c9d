/** Splits the bytes of an event stream into frames, and parses frames into events. */
import { tryNext } from './failure.ts'

/** One event. Its id and `retry` are dropped: a broken stream of a model cannot be resumed. */
export interface VendorEvent {
  /** `message` if the vendor sent no `event` field. */
  readonly name: string
  readonly data: string
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const mark = [0xef, 0xbb, 0xbf]

/** Large enough for an inline image. */
const maxFrameBytes = 16 * 1024 * 1024

/**
 * Splits an event stream at its blank lines, by the rules of the WHATWG: one byte order mark is skipped, and lines end
 * with LF, CR or CRLF. The output has LF only. The boundaries of network reads make no difference.
 */
export class Framer {
  readonly #limit: number
  /** Bytes of the byte order mark seen so far; -1 after the beginning of the stream. */
  #marked = 0
  #afterReturn = false
  /** The incomplete next frame: the first `#size` bytes. */
  #pending: Buffer = Buffer.alloc(0)
  #size = 0

  /** `limit`: maximum size of one frame, in bytes. Default 16 MiB. */
  constructor(limit: number = maxFrameBytes) {
    this.#limit = limit
  }

  /** All frames that are complete now, concatenated; undefined if there is none. Throws if a frame exceeds the limit. */
  push(bytes: Buffer): Buffer | undefined {
    const piece = this.#withoutReturns(this.#marked < 0 ? bytes : this.#withoutMark(bytes))
    const end = this.#endOfFrames(piece)
    if (end === 0) {
      this.#keep(piece)
      return undefined
    }
    const whole = end === piece.length ? piece : piece.subarray(0, end)
    const frames = this.#size === 0 ? whole : Buffer.concat([this.#pending.subarray(0, this.#size), whole])
    this.#size = 0
    if (end < piece.length) this.#keep(piece.subarray(end))
    return frames
  }

  /** Index after the last blank line; 0 if there is none. */
  #endOfFrames(piece: Buffer): number {
    if (piece[piece.length - 1] === lineFeed && piece[piece.length - 2] === lineFeed) return piece.length
    const last = piece.lastIndexOf('\n\n')
    if (last >= 0) return last + 2
    const straddles = piece[0] === lineFeed && this.#size > 0 && this.#pending[this.#size - 1] === lineFeed
    return straddles ? 1 : 0
  }

  /** The bytes after the last complete frame. By the standard they are not an event. */
  rest(): string {
    return this.#pending.toString('utf8', 0, this.#size)
  }

  #keep(piece: Buffer): void {
    const size = this.#size + piece.length
    if (size > this.#limit) throw tryNext(new Error(`the vendor sent an event larger than ${this.#limit} bytes`))
    if (size > this.#pending.length) {
      const larger = Buffer.allocUnsafe(Math.max(size, this.#pending.length * 2))
      this.#pending.copy(larger, 0, 0, this.#size)
      this.#pending = larger
    }
    piece.copy(this.#pending, this.#size)
    this.#size = size
  }

  #withoutMark(bytes: Buffer): Buffer {
    for (let at = 0; at < bytes.length; at++) {
      if (this.#marked === mark.length) {
        this.#marked = -1
        return bytes.subarray(at)
      }
      if (bytes[at] !== mark[this.#marked]) {
        // Not a mark: the bytes that matched it so far belong to the stream, and some may be from earlier pieces.
        const matched = this.#marked
        this.#marked = -1
        return matched > at ? Buffer.concat([Buffer.from(mark.slice(0, matched - at)), bytes]) : bytes
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

/** Parses one frame; undefined for a frame without data, such as a comment. */
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
