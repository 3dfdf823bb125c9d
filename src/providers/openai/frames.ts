/**
 * The bytes of an OpenAI-style stream of chunks → pieces. Most frames hold nothing but a delta of text: they stay bytes,
 * all that arrived together in one piece. Frames that matter (tool calls, ends, usage, errors, anything unusual) are
 * parsed, as are all frames of a stream that is not printed in the usual way.
 */
import { ContentFrames, type ChatPiece } from '../contract.ts'
import { unavailable } from '../failure.ts'
import { eventIn, Framer, type VendorEvent } from '../framing.ts'
import type { ChatChunk } from '../../wire/chat.ts'
import { estimatePieces } from '../../wire/usage.ts'
import { parseChunk } from './chunk.ts'

/**
 * What makes a frame more than a delta of text. Inside a JSON string every quote is escaped, so a value cannot look
 * like one of these names.
 */
const marks =
  /calls": ?\[|usage": ?[^n ]|reason": ?"|error": ?[^n ]|probs": ?\{|choices": ?\[\]|content": ?\[|_call": ?\{|\[DONE\]/

const lineFeed = 0x0a

export interface FrameOptions {
  /** The name the client used, when it differs from the vendor's: the frames are then made to carry it. */
  readonly rename?: string | undefined
  /** Every frame is parsed: for a reader that has no use for bytes. */
  readonly parsed?: boolean
  /** An error object inside the stream → what to throw. */
  readonly failure: (error: unknown) => Error
}

/** What the frames are read from: the bytes of an answer. */
export interface FrameSource extends AsyncIterable<Buffer> {
  /** Called when the vendor said that it is done, before the rest of the source is given up. */
  settle?(): void
}

/** Ends when the vendor said that it is done; throws when the stream breaks off. */
export async function* readFrames(source: FrameSource, options: FrameOptions): AsyncGenerator<ChatPiece, void, void> {
  const reader = new FrameReader(options)
  for await (const bytes of source) {
    yield* reader.push(bytes)
    if (reader.done) return source.settle?.()
  }
  yield* reader.end()
}

interface Print {
  /** See `firstKeyOf`. */
  readonly firstKey: number
  /** Bytes of a frame that are not text of the answer. */
  readonly overhead: number
}

class FrameReader {
  done = false
  readonly #options: FrameOptions
  readonly #framer = new Framer()
  /** How this vendor prints its chunks, known after the first one; undefined while that is not the usual way. */
  #print: Print | undefined
  #model: { from: Buffer; to: Buffer } | undefined
  /** Frames and tokens of what was measured last. */
  #count = 0
  #tokens = 0
  /** A choice has been finished, so that the end of the stream may be its end too. */
  #finished = false

  constructor(options: FrameOptions) {
    this.#options = options
  }

  *push(bytes: Buffer): Generator<ChatPiece> {
    const slab = this.#framer.push(bytes)
    if (slab !== undefined) yield* this.#frames(slab)
  }

  /** The connection is over: what came without its last blank line may still be the end that was meant. */
  *end(): Generator<ChatPiece> {
    const event = eventIn(this.#framer.rest())
    if (event !== undefined && (isDone(event.data) || isJson(event.data))) yield* this.#event(event)
    if (!this.done && !this.#finished)
      throw unavailable('same', new Error('the vendor broke off in the middle of its answer'))
  }

  *#frames(slab: Buffer): Generator<ChatPiece> {
    if (this.#isPlain(slab)) return yield* this.#plain(slab, this.#count, this.#tokens)
    // Something in here matters, or nothing is known yet: frame by frame.
    let plain = 0
    let count = 0
    let tokens = 0
    for (let at = 0; at < slab.length;) {
      const next = slab.indexOf('\n\n', at)
      const end = next < 0 ? slab.length : next + 2
      const frame = slab.subarray(at, end)
      if (this.#isPlain(frame)) {
        count += this.#count
        tokens += this.#tokens
      } else {
        if (count > 0) yield* this.#plain(slab.subarray(plain, at), count, tokens)
        const event = eventIn(frame.toString('utf8'))
        if (event !== undefined) yield* this.#event(event, frame)
        if (this.done) return
        plain = end
        count = tokens = 0
      }
      at = end
    }
    if (count > 0) yield* this.#plain(slab.subarray(plain), count, tokens)
  }

  /** Whether all frames are deltas of text in the usual form. After the end of a choice each frame is looked into. */
  #isPlain(slab: Buffer): boolean {
    return this.#print !== undefined && !this.#finished && !marks.test(slab.toString('latin1')) && this.#measure(slab)
  }

  /** Counts frames and tokens of a slab; false as soon as a frame has another form than the first text had. */
  #measure(slab: Buffer): boolean {
    const { firstKey, overhead } = this.#print as Print
    this.#count = 0
    this.#tokens = 0
    for (let at = 0; at < slab.length;) {
      const end = endOfFrame(slab, at)
      if (end < 0 || firstKeyOf(slab, at) !== firstKey) return false
      this.#count++
      this.#tokens += estimatePieces(1, end - at - overhead)
      at = end
    }
    return true
  }

  *#plain(slab: Buffer, count: number, tokens: number): Generator<ChatPiece> {
    const bytes = this.#renamed(slab, count)
    if (bytes !== undefined) return yield new ContentFrames(bytes, tokens)
    for (const text of slab.toString('utf8').split(/(?<=\n\n)/)) {
      const frame = Buffer.from(text)
      const renamed = this.#renamed(frame, 1)
      if (renamed === undefined) yield* this.#event(eventIn(text) as VendorEvent)
      else if (this.#measure(frame)) yield new ContentFrames(renamed, this.#tokens)
    }
  }

  *#event({ name, data }: VendorEvent, frame?: Buffer): Generator<ChatPiece> {
    if (data === '') return
    if (isDone(data)) return void (this.done = true)
    const chunk = parseChunk(data)
    if (chunk['error'] || name === 'error') {
      // What the vendor counted is owed, whatever became of the answer.
      if (chunk.usage) yield { usage: chunk.usage }
      throw this.#options.failure(chunk['error'] || chunk)
    }
    if (this.#print === undefined && frame !== undefined && this.#options.parsed !== true) this.#learn(chunk, frame)
    if (chunk.choices?.some((choice) => choice.finish_reason)) this.#finished = true
    yield this.#options.rename === undefined ? chunk : { ...chunk, model: this.#options.rename }
  }

  /** From the first text: what comes before it is often printed otherwise. A stream that lacks ids is never learned. */
  #learn(chunk: ChatChunk, frame: Buffer): void {
    const text = textOf(chunk)
    if (!chunk.id || !chunk.created || text === '') return
    if (endOfFrame(frame, 0) !== frame.length) return
    const { rename } = this.#options
    if (rename !== undefined && rename !== chunk.model) {
      const name = JSON.stringify(chunk.model)
      const from = [`"model":${name}`, `"model": ${name}`].find((each) => frame.includes(each))
      if (from === undefined) return
      this.#model = { from: Buffer.from(from), to: Buffer.from(`"model":${JSON.stringify(rename)}`) }
    }
    this.#print = { firstKey: firstKeyOf(frame, 0), overhead: frame.length - Buffer.byteLength(text) }
  }

  /** The slab with the client's model name in every frame; undefined when a frame has not the vendor's name once. */
  #renamed(slab: Buffer, frames: number): Buffer | undefined {
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
    if (count !== frames) return undefined
    pieces.push(slab.subarray(at))
    return Buffer.concat(pieces)
  }
}

/** Where the frame that begins here ends, if it has the form `data: {…}` on one line; else -1. */
function endOfFrame(slab: Buffer, at: number): number {
  const end = slab.indexOf(lineFeed, at)
  if (end < 0 || slab[end + 1] !== lineFeed || slab[end - 1] !== 0x7d /* } */) return -1
  const begins = slab[at] === 0x64 && slab[at + 4] === 0x3a && slab[at + 5] === 0x20 && slab[at + 6] === 0x7b
  return begins ? end + 2 : -1
}

/** Three bytes that tell the first key of a frame from others: a vendor prints its errors otherwise than its chunks. */
function firstKeyOf(slab: Buffer, at: number): number {
  return ((slab[at + 8] as number) << 16) | ((slab[at + 9] as number) << 8) | (slab[at + 10] as number)
}

/** The text of a chunk that has nothing but text. */
function textOf(chunk: ChatChunk): string {
  let text = ''
  for (const { delta, text: continued } of chunk.choices ?? []) {
    if (typeof continued === 'string') text += continued
    for (const [name, value] of Object.entries(delta ?? {})) {
      if (name !== 'role' && typeof value === 'string') text += value
    }
  }
  return text
}

function isDone(data: string): boolean {
  return data.trim() === '[DONE]'
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
