/** The frames of an event stream, side by side in memory that all streams share: nothing is allocated for a read. */
import { oversized } from './failure.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Large enough for an inline image. */
export const maxFrameBytes: number = 16 * 1024 * 1024

/** An incomplete frame up to this size is copied again with each read. A larger one is completed where it is kept. */
const smallBytes = 16 * 1024

/** More than one turn of the event loop delivers, unless a frame is large. */
const sharedBytes = 512 * 1024

/** Bytes that are also readable in words of eight. Only the first `size` are valid. */
export class WordView {
  readonly bytes: Buffer
  readonly words: DataView
  size: number

  constructor(bytes: Buffer, size: number = bytes.length) {
    this.bytes = bytes
    this.words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.size = size
  }
}

let shared: WordView | undefined

/** The shared memory; for an unusual size, memory of its own. */
function viewFor(size: number): WordView {
  if (shared !== undefined && shared.bytes.length >= size) return shared
  const view = new WordView(
    Buffer.allocUnsafeSlow(size > sharedBytes ? size : Math.max(64 * 1024, Math.min(size * 2, sharedBytes))),
  )
  if (view.bytes.length <= sharedBytes) shared = view
  return view
}

/**
 * Finds the complete frames in what was read so far, by the rules of the WHATWG: one byte order mark is skipped, and
 * lines end with LF, CR or CRLF. The frames have LF only. The boundaries of network reads make no difference.
 */
export class FrameWindow {
  /** Holds the frames that `push` found, from `start` to `view.size`, until the next `push` of any window. */
  view: WordView = viewFor(0)
  start = 0
  readonly #limit: number
  #begun = false
  #afterReturn = false
  /** The incomplete next frame: the first `#kept` bytes. */
  #tail: Buffer | undefined
  #kept = 0

  /** `limit`: maximum size of one frame, in bytes. Default 16 MiB. */
  constructor(limit: number = maxFrameBytes) {
    this.#limit = limit
  }

  /** Adds what was read. True if at least one frame is complete now. Throws if a frame exceeds the limit. */
  push(reads: readonly Buffer[]): boolean {
    let size = this.#kept
    for (const read of reads) size += read.length
    const view = this.#viewFor(size)
    let at = this.#kept
    for (const read of reads) {
      view.bytes.set(read, at)
      at += read.length
    }
    size = this.#withoutReturns(view.bytes, this.#kept, size)
    view.size = endOfFrames(view.bytes, this.#kept, size)
    this.view = view
    this.start = 0
    if (view.size > 0 && !this.#begun) this.#begin(view.bytes)
    this.#keep(view, size)
    return view.size > 0
  }

  /** The bytes after the last complete frame. By the standard they are not an event. */
  rest(): string {
    return this.#tail?.toString('utf8', !this.#begun && hasMark(this.#tail) ? 3 : 0, this.#kept) ?? ''
  }

  /** A view of at least `size` bytes, which begins with the kept bytes. */
  #viewFor(size: number): WordView {
    const tail = this.#tail
    if (tail === undefined) return viewFor(size)
    if (this.#kept > smallBytes) {
      if (size > tail.length) this.#tail = copy(tail, this.#kept, Math.max(size, tail.length * 2))
      return new WordView(this.#tail as Buffer)
    }
    const view = viewFor(size)
    tail.copy(view.bytes, 0, 0, this.#kept)
    return view
  }

  /** Keeps the bytes after the frames. */
  #keep({ bytes, size: end }: WordView, size: number): void {
    this.#kept = size - end
    if (this.#kept > this.#limit) throw oversized(`${this.#limit} bytes in one event`, this.#kept)
    if (this.#kept === 0) this.#tail = undefined
    else if (end > 0 || bytes !== this.#tail) this.#tail = copy(bytes.subarray(end), this.#kept, this.#kept)
  }

  #begin(bytes: Buffer): void {
    this.#begun = true
    if (hasMark(bytes)) this.start = 3
  }

  /** Converts the line ends from `from` to `to`, and returns the new end. */
  #withoutReturns(bytes: Buffer, from: number, to: number): number {
    if (!this.#afterReturn && !bytes.subarray(from, to).includes(carriageReturn)) return to
    let end = from
    for (let at = from; at < to; at++) {
      const byte = bytes[at] as number
      const isSecond = byte === lineFeed && this.#afterReturn
      this.#afterReturn = byte === carriageReturn
      if (!isSecond) bytes[end++] = byte === carriageReturn ? lineFeed : byte
    }
    return end
  }
}

/** Index after the last blank line; 0 if there is none. Up to `from` there is none. */
function endOfFrames(bytes: Buffer, from: number, to: number): number {
  if (to > from && to > 1 && bytes[to - 1] === lineFeed && bytes[to - 2] === lineFeed) return to
  const start = Math.max(0, from - 1)
  const last = bytes.subarray(start, to).lastIndexOf('\n\n')
  return last < 0 ? 0 : start + last + 2
}

function hasMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

function copy(bytes: Buffer, size: number, capacity: number): Buffer {
  const larger = Buffer.allocUnsafe(capacity)
  bytes.copy(larger, 0, 0, size)
  return larger
}
