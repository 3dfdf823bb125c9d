/** Reads the events of one stream from its frames, and enforces the bounds on them. */
import { isJson } from '../http/json.ts'
import { maxEvents, maxLines, requireBounded, tooMany } from './answer-bounds.ts'
import { unreadable } from './failure.ts'
import { eventIn, type VendorEvent } from './framing.ts'

export class EventReader {
  #events = 0

  /**
   * The event of a frame; undefined for an empty frame or a comment. Throws for text that is not in the event stream
   * format: servers and proxies that fail in the middle of a stream write an HTML page or a plain line into it, and may
   * then end the stream normally.
   */
  read(frame: string): VendorEvent | undefined {
    if (++this.#events > maxEvents) throw tooMany('events', maxEvents)
    requireFewLines(frame)
    const event = eventIn(frame)
    if (event === undefined ? isStray(frame) : hasErrorField(frame)) {
      throw unreadable('the vendor sent text that is not an event')
    }
    if (event !== undefined) requireBounded(event.data)
    return event
  }

  /** The event after the last blank line, which some vendors omit; undefined for the beginning of a broken one. */
  last(rest: string): VendorEvent | undefined {
    const event = eventIn(rest)
    if (event === undefined) return undefined
    requireBounded(event.data)
    if (event.data.trim() === '[DONE]') return { ...event, data: '[DONE]' }
    return isJson(event.data) ? event : undefined
  }
}

function requireFewLines(frame: string): void {
  if (frame.length <= maxLines) return
  let at = -1
  for (let lines = 0; (at = frame.indexOf('\n', at + 1)) >= 0; lines++) {
    if (lines === maxLines) throw tooMany('lines in one event', maxLines)
  }
}

const known = /^\s*(?:(?:data|event|id|retry)(?::|$)|:|$)/

/** Whether a frame without data has a line that is neither a comment nor a field of the standard. */
function isStray(frame: string): boolean {
  return frame !== '' && !frame.split('\n').every((line) => known.test(line))
}

/** Some servers write `error: {…}` where the standard has `event: error`. */
function hasErrorField(frame: string): boolean {
  return frame.startsWith('error:') || frame.includes('\nerror:')
}
