/**
 * The bytes of an OpenAI-style event stream → pieces. Most frames hold nothing but a delta of text: they stay bytes,
 * all that arrived together in one piece. Frames that matter (tool calls, ends, usage, errors, anything unusual) are
 * parsed, as are all frames of a stream that is not framed in the usual way.
 */
import { createParser } from 'eventsource-parser'
import { ContentFrames, type ChatPiece } from '../contract.ts'
import { unavailable } from '../failure.ts'
import type { ChatChunk } from '../../wire/chat.ts'

/** Bytes of one event at most. */
const eventBytes = 1024 * 1024

/**
 * What makes a frame more than a delta of text. Inside a JSON string every quote is escaped, so a value cannot look
 * like one of these names.
 */
const compactMarks = /calls":\[|usage":\{|reason":"|error":["{]|choices":\[\]|content":\[|_call":\{|\[DONE\]/
const spacedMarks = /calls": \[|usage": \{|reason": "|error": ["{]|choices": \[\]|content": \[|_call": \{|\[DONE\]/

const lineFeed = 0x0a

export interface FrameOptions {
  /** The name the client used, when it differs from the vendor's: the frames are then made to carry it. */
  readonly rename?: string | undefined
  /** An error object inside the stream → what to throw. */
  readonly failure: (error: unknown) => Error
}

/** Ends when the vendor said that it is done; throws when the stream breaks off. */
export async function* readFrames(
  source: AsyncIterable<Buffer>,
  options: FrameOptions,
): AsyncGenerator<ChatPiece, void, void> {
  const reader = new FrameReader(options)
  for await (const bytes of source) {
    yield* reader.push(bytes)
    if (reader.done) return
  }
  yield* reader.end()
}

class FrameReader {
  done = false
  readonly #options: FrameOptions
  #rest: Buffer = Buffer.alloc(0)
  #started = false
  /** Known after the first chunk; undefined while frames are not in one of the two usual forms. */
  #marks: RegExp | undefined
  #model: { from: Buffer; to: Buffer } | undefined
  /** A choice has been finished, so that the end of the stream may be its end too. */
  #finished = false
  /** Takes over, for good, when a stream uses more of the format than `data:` lines ended by line feeds. */
  #parser: { feed: (text: string) => void } | undefined
  readonly #decoder = new TextDecoder()
  #parsed: string[] = []

  constructor(options: FrameOptions) {
    this.#options = options
  }

  *push(bytes: Buffer): Generator<ChatPiece> {
    if (this.#parser !== undefined) return yield* this.#feed(bytes)
    let slab = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    if (!this.#started) {
      if (slab.length < 3) return void (this.#rest = slab)
      this.#started = true
      if (slab[0] === 0xef && slab[1] === 0xbb && slab[2] === 0xbf) slab = slab.subarray(3)
    }
    if (slab.includes(0x0d)) {
      this.#parser = createParser({ onEvent: ({ data }) => void this.#parsed.push(data), maxBufferSize: eventBytes })
      return yield* this.#feed(slab)
    }
    const last = slab.lastIndexOf('\n\n')
    const whole = last < 0 ? 0 : last + 2
    this.#rest = slab.subarray(whole)
    if (this.#rest.length > eventBytes) throw unavailable('next', new Error('the vendor sent an event without end'))
    if (whole > 0) yield* this.#frames(slab.subarray(0, whole))
  }

  /** The connection is over: what came without its last blank line may still be the end that was meant. */
  *end(): Generator<ChatPiece> {
    if (this.#parser !== undefined) yield* this.#feed(Buffer.from('\n\n'))
    else if (this.#rest.length > 0) {
      const text = dataOf(this.#rest.toString('utf8'))
      if (text === '[DONE]' || isJson(text)) yield* this.#event(text)
    }
    if (!this.done && !this.#finished)
      throw unavailable('same', new Error('the vendor broke off in the middle of its answer'))
  }

  *#feed(bytes: Buffer): Generator<ChatPiece> {
    try {
      this.#parser?.feed(this.#decoder.decode(bytes, { stream: true }))
    } catch (error) {
      throw unavailable('next', error)
    }
    const parsed = this.#parsed
    this.#parsed = []
    for (const data of parsed) {
      yield* this.#event(data)
      if (this.done) return
    }
  }

  *#frames(slab: Buffer): Generator<ChatPiece> {
    if (this.#marks !== undefined && !this.#marks.test(slab.toString('latin1')) && countOf(slab) > 0) {
      const bytes = this.#renamed(slab)
      if (bytes !== undefined) return yield new ContentFrames(bytes, countOf(slab))
    }
    // Something in here matters, or nothing is known yet: frame by frame.
    let plain = 0
    let at = 0
    while (at < slab.length) {
      const next = slab.indexOf('\n\n', at)
      const end = next < 0 ? slab.length : next + 2
      const frame = slab.subarray(at, end)
      if (this.#marks === undefined || this.#marks.test(frame.toString('latin1')) || countOf(frame) !== 1) {
        yield* this.#plain(slab.subarray(plain, at))
        yield* this.#event(dataOf(frame.toString('utf8')), frame)
        if (this.done) return
        plain = end
      }
      at = end
    }
    yield* this.#plain(slab.subarray(plain))
  }

  *#plain(slab: Buffer): Generator<ChatPiece> {
    if (slab.length === 0) return
    const bytes = this.#renamed(slab)
    if (bytes !== undefined) yield new ContentFrames(bytes, countOf(slab))
    else for (const frame of slab.toString('utf8').split('\n\n')) yield* this.#event(dataOf(frame))
  }

  *#event(data: string, frame?: Buffer): Generator<ChatPiece> {
    if (data === '') return
    if (data === '[DONE]') return void (this.done = true)
    const chunk = parse(data)
    if (chunk['error']) throw this.#options.failure(chunk['error'])
    if (this.#marks === undefined && frame !== undefined) this.#learn(chunk, frame)
    if (chunk.choices?.some((choice) => choice.finish_reason)) this.#finished = true
    yield chunk
  }

  /** How this vendor prints its chunks. A stream without ids of its own is always completed chunk by chunk. */
  #learn(chunk: ChatChunk, frame: Buffer): void {
    if (!chunk.id || !chunk.choices?.length || !chunk.created) return
    const compact = frame.includes('"choices":[{"')
    const spaced = frame.includes('"choices": [{"')
    if (!compact && !spaced) return
    const { rename } = this.#options
    if (rename !== undefined && rename !== chunk.model) {
      const from = Buffer.from(`"model":${compact ? '' : ' '}${JSON.stringify(chunk.model)}`)
      if (!frame.includes(from)) return
      this.#model = { from, to: Buffer.from(`"model":${JSON.stringify(rename)}`) }
    }
    this.#marks = compact ? compactMarks : spacedMarks
  }

  /** The slab with the client's model name in every frame; undefined when a frame has not the vendor's name once. */
  #renamed(slab: Buffer): Buffer | undefined {
    if (this.#model === undefined) return slab
    const { from, to } = this.#model
    const pieces: Buffer[] = []
    let at = 0
    let count = 0
    for (let found = slab.indexOf(from); found >= 0; found = slab.indexOf(from, at)) {
      pieces.push(slab.subarray(at, found), to)
      at = found + from.length
      count++
    }
    if (count !== countOf(slab)) return undefined
    pieces.push(slab.subarray(at))
    return Buffer.concat(pieces)
  }
}

/** Frames of the form `data: {…}` on one line in a slab; 0 as soon as one has another form. */
function countOf(slab: Buffer): number {
  let count = 0
  let at = 0
  while (at < slab.length) {
    const end = slab.indexOf(lineFeed, at)
    if (end < 0 || slab[end + 1] !== lineFeed || slab[end - 1] !== 0x7d /* } */) return 0
    if (slab[at] !== 0x64 || slab[at + 4] !== 0x3a || slab[at + 5] !== 0x20 || slab[at + 6] !== 0x7b) return 0
    at = end + 2
    count++
  }
  return count
}

/** The data of one frame by the rules of the format; empty for comments and for fields without data. */
function dataOf(frame: string): string {
  let data = ''
  for (const line of frame.split('\n')) {
    if (!line.startsWith('data')) continue
    if (line[4] === ':') data += `${data === '' ? '' : '\n'}${line.slice(line[5] === ' ' ? 6 : 5)}`
  }
  return data
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function parse(data: string): ChatChunk {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    throw unavailable('same', new Error('the vendor sent an event that is not JSON'))
  }
  if (typeof value !== 'object' || value === null)
    throw unavailable('same', new Error('the vendor sent an event that is no object'))
  return value as ChatChunk
}
