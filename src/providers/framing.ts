/** Splits the bytes of an event stream into frames, and parses frames into events. */
import { unreadable } from './failure.ts'
import { FrameWindow } from './frame-window.ts'

/** One event. Its id and `retry` are dropped: a broken stream of a model cannot be resumed. */
export interface VendorEvent {
  /** `message` if the vendor sent no `event` field. */
  readonly name: string
  readonly data: string
}

/** Splits an event stream at its blank lines; see `FrameWindow`. */
export class Framer {
  readonly #window: FrameWindow

  /** `limit`: maximum size of one frame, in bytes. Default 16 MiB. */
  constructor(limit?: number) {
    this.#window = new FrameWindow(limit)
  }

  /** All frames that are complete now, concatenated; undefined if there is none. Throws if a frame exceeds the limit. */
  push(bytes: Buffer): Buffer | undefined {
    if (!this.#window.push([bytes])) return undefined
    const { view, start } = this.#window
    return Buffer.from(view.bytes.subarray(start, view.size))
  }

  /** The bytes after the last complete frame. By the standard they are not an event. */
  rest(): string {
    return this.#window.rest()
  }
}

/** The JSON value of an event's data. */
export function jsonIn(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    throw unreadable('the vendor sent an event that is not JSON')
  }
}

/** Parses one frame; undefined for a frame without data, such as a comment. */
export function eventIn(frame: string): VendorEvent | undefined {
  // The usual form: one line.
  const end = frame.indexOf('\n')
  if (frame.startsWith('data: ') && (end < 0 || (end === frame.length - 2 && frame.endsWith('\n')))) {
    return { name: 'message', data: end < 0 ? frame.slice(6) : frame.slice(6, end) }
  }
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
