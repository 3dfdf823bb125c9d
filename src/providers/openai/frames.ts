/**
 * Reads an OpenAI-style chat stream. Most frames contain only a text delta and are passed on as bytes, together with all
 * others that arrived with them. Frames that matter (tool calls, finish reasons, usage, errors, anything unusual) are
 * parsed.
 */
import { isJson } from '../../http/json.ts'
import { ContentFrames, type ChatPiece } from '../contract.ts'
import { EventReader } from '../event-reader.ts'
import { retrySame } from '../failure.ts'
import { eventIn, Framer, type VendorEvent } from '../framing.ts'
import type { ChatChunk } from '../../wire/chat.ts'
import { faultIn, parseChunk, saysNothing } from './chunk.ts'
import { FrameTemplate, WordView } from './template.ts'

export interface FrameOptions {
  /** The public model name that the frames must carry. Default: the vendor's name stays. */
  readonly rename?: string | undefined
  /** True to parse every frame, for a consumer that cannot use bytes. Default false. */
  readonly parsed?: boolean
  /** Converts an error object inside the stream to the error to throw. */
  readonly failure: (error: unknown) => Error
}

/** The bytes of a response. */
export interface FrameSource extends AsyncIterable<Buffer> {
  /** Called after the last event, when the rest of the source is no longer needed. */
  settle?(): void
}

/** Ends with the vendor's `[DONE]`; throws if the stream ends before all of its choices have finished. */
export function readFrames(source: FrameSource, options: FrameOptions): AsyncIterableIterator<ChatPiece, undefined> {
  return new FrameReader(source, options)
}

const blankLine = Buffer.from('\n\n')

/** Maximum number of templates learnt in one stream: learning does not pay if the vendor writes each frame differently. */
const maxTemplates = 16

/** Consecutive frames of text. */
interface Run {
  start: number
  end: number
  frames: number
  textBytes: number
  /** For each frame the end of the model name, if it must be replaced. */
  readonly nameEnds: number[]
}

/** An explicit iterator: nested generators would cost more than all the work on a frame. */
class FrameReader implements AsyncIterableIterator<ChatPiece, undefined> {
  readonly #source: FrameSource
  readonly #bytes: AsyncIterator<Buffer>
  readonly #options: FrameOptions
  readonly #rename: Buffer | undefined
  readonly #framer = new Framer()
  readonly #events = new EventReader()
  /** Pieces that were read together. `next` has returned those before `#position`. */
  #pieces: ChatPiece[] = []
  #position = 0
  #template: FrameTemplate | undefined
  #templatesLearnt = 0
  /** The indexes of all choices so far, and of those that have finished. */
  readonly #begun = new Set<number>()
  readonly #finished = new Set<number>()
  #done = false
  /** Thrown after the pieces that arrived before it. */
  #failure: { readonly error: unknown } | undefined

  constructor(source: FrameSource, options: FrameOptions) {
    this.#source = source
    this.#bytes = source[Symbol.asyncIterator]()
    this.#options = options
    if (options.rename !== undefined) this.#rename = Buffer.from(JSON.stringify(options.rename))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<ChatPiece, undefined>> {
    for (;;) {
      const value = this.#pieces[this.#position]
      if (value !== undefined) {
        this.#position++
        return { done: false, value }
      }
      const failure = this.#failure
      this.#failure = undefined
      if (failure !== undefined) throw failure.error
      if (this.#done) return { done: true, value: undefined }
      try {
        this.#take(await this.#bytes.next())
      } catch (error) {
        this.#failure = { error }
        this.#done = true
      }
      if (this.#done) await this.#bytes.return?.()
    }
  }

  async return(): Promise<IteratorResult<ChatPiece, undefined>> {
    this.#done = true
    this.#pieces = []
    await this.#bytes.return?.()
    return { done: true, value: undefined }
  }

  #take(read: IteratorResult<Buffer, unknown>): void {
    this.#pieces = []
    this.#position = 0
    if (read.done === true) this.#end()
    else this.#push(read.value)
    if (this.#done) this.#source.settle?.()
  }

  /** The connection has ended. Some vendors omit the blank line after the last event. */
  #end(): void {
    const event = eventIn(this.#framer.rest())
    if (event !== undefined && (isDone(event.data) || isJson(event.data))) this.#event(event)
    const complete = this.#finished.size > 0 && this.#finished.size === this.#begun.size
    if (!this.#done && !complete)
      throw retrySame(new Error("the vendor's stream ended before the response was complete"))
    this.#done = true
  }

  #push(read: Buffer): void {
    const bytes = this.#framer.push(read)
    if (bytes === undefined) return
    const view = new WordView(bytes)
    const run: Run = { start: 0, end: 0, frames: 0, textBytes: 0, nameEnds: [] }
    while (run.end < bytes.length && !this.#done) {
      if (this.#continues(run, view)) continue
      this.#text(bytes, run)
      const blank = bytes.indexOf(blankLine, run.end)
      const frame = bytes.subarray(run.end, blank < 0 ? bytes.length : blank + 2)
      run.start = run.end += frame.length
      const event = this.#events.read(frame.toString('utf8'))
      if (event !== undefined) this.#event(event, frame)
    }
    this.#text(bytes, run)
  }

  /** Adds the next frame to the run if it contains only text. After the first finish reason every frame is parsed. */
  #continues(run: Run, view: WordView): boolean {
    const template = this.#template
    if (template === undefined || this.#finished.size > 0) return false
    const end = template.endOf(view, run.end, this.#rename && run.nameEnds)
    if (end < 0) return false
    run.textBytes += template.textBytes
    run.end = end
    run.frames++
    return true
  }

  /** Emits the run as one piece, and empties it. */
  #text(bytes: Buffer, run: Run): void {
    if (run.frames > 0) this.#pieces.push(new ContentFrames(this.#renamed(bytes, run), run.textBytes))
    run.frames = run.textBytes = run.nameEnds.length = 0
  }

  #renamed(bytes: Buffer, { start, end, frames, nameEnds }: Run): Buffer {
    if (this.#rename === undefined) return bytes.subarray(start, end)
    const pieces: Buffer[] = []
    let at = start
    // A frame that matched only up to its model name has left one end too many.
    for (const nameEnd of nameEnds.slice(0, frames)) {
      pieces.push(bytes.subarray(at, nameEnd - (this.#template as FrameTemplate).nameBytes), this.#rename)
      at = nameEnd
    }
    pieces.push(bytes.subarray(at, end))
    return Buffer.concat(pieces)
  }

  #event({ name, data }: VendorEvent, frame?: Buffer): void {
    if (data === '') return
    if (isDone(data)) return void (this.#done = true)
    const chunk = parseChunk(data)
    const fault = faultIn(chunk, name)
    if (fault !== undefined) {
      // The vendor charges for this usage, although the response failed.
      if (chunk.usage) this.#pieces.push({ usage: chunk.usage })
      throw this.#options.failure(fault)
    }
    if (saysNothing(chunk)) return
    if (frame !== undefined && this.#options.parsed !== true) this.#learn(chunk, frame)
    for (const { index, finish_reason: reason } of chunk.choices ?? []) {
      this.#begun.add(index ?? 0)
      if (reason) this.#finished.add(index ?? 0)
    }
    this.#pieces.push(this.#options.rename === undefined ? chunk : { ...chunk, model: this.#options.rename })
  }

  #learn(chunk: ChatChunk, frame: Buffer): void {
    if (this.#templatesLearnt >= maxTemplates) return
    const template = FrameTemplate.of(frame, chunk, this.#template)
    if (template === undefined || (this.#rename !== undefined && template.nameBytes === 0)) return
    this.#template = template
    this.#templatesLearnt++
  }
}

function isDone(data: string): boolean {
  return data.trim() === '[DONE]'
}
