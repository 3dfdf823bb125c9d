/**
 * The bytes of an OpenAI-style stream of chunks → pieces. Most frames hold nothing but a delta of text: they stay bytes,
 * all that arrived together in one piece. Frames that matter (tool calls, ends, usage, errors, anything unusual) are
 * parsed, as are all frames of a stream that is not printed in the usual way.
 */
import { isJson } from '../../http/json.ts'
import { ContentFrames, type ChatPiece } from '../contract.ts'
import { EventReader } from '../event-reader.ts'
import { retrySame } from '../failure.ts'
import { eventIn, Framer, type VendorEvent } from '../framing.ts'
import type { ChatChunk } from '../../wire/chat.ts'
import { faultIn, parseChunk, saysNothing } from './chunk.ts'
import { FrameTemplate, Slab } from './template.ts'

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
export function readFrames(source: FrameSource, options: FrameOptions): AsyncIterableIterator<ChatPiece, undefined> {
  return new FrameReader(source, options)
}

const blankLine = Buffer.from('\n\n')

/** How often a template is learnt in one stream. A vendor that prints each frame otherwise is not worth the trouble. */
const mostLessons = 16

/** Frames of text that stand one behind the other. */
interface Run {
  start: number
  end: number
  frames: number
  textBytes: number
  /** For each frame the byte after the name of the model, where it is to be replaced. */
  readonly nameEnds: number[]
}

/** Written out instead of generators in generators: these would cost more than all that is done with a frame. */
class FrameReader implements AsyncIterableIterator<ChatPiece, undefined> {
  readonly #source: FrameSource
  readonly #bytes: AsyncIterator<Buffer>
  readonly #options: FrameOptions
  readonly #rename: Buffer | undefined
  readonly #framer = new Framer()
  readonly #events = new EventReader()
  /** Pieces that were read together; those before `#given` have been given out. */
  #pieces: ChatPiece[] = []
  #given = 0
  #template: FrameTemplate | undefined
  #lessons = 0
  /** The choices that were seen, and those of them that have been finished. */
  readonly #begun = new Set<number>()
  readonly #finished = new Set<number>()
  #done = false
  /** Stands behind the pieces that came before it. */
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
      const value = this.#pieces[this.#given]
      if (value !== undefined) {
        this.#given++
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
    this.#given = 0
    if (read.done === true) this.#end()
    else this.#push(read.value)
    if (this.#done) this.#source.settle?.()
  }

  /** The connection is over: what came without its last blank line may still be the end that was meant. */
  #end(): void {
    const event = eventIn(this.#framer.rest())
    if (event !== undefined && (isDone(event.data) || isJson(event.data))) this.#event(event)
    const whole = this.#finished.size > 0 && this.#finished.size === this.#begun.size
    if (!this.#done && !whole) throw retrySame(new Error('the vendor broke off in the middle of its answer'))
    this.#done = true
  }

  #push(read: Buffer): void {
    const bytes = this.#framer.push(read)
    if (bytes === undefined) return
    const slab = new Slab(bytes)
    const run: Run = { start: 0, end: 0, frames: 0, textBytes: 0, nameEnds: [] }
    while (run.end < bytes.length && !this.#done) {
      if (this.#continues(run, slab)) continue
      this.#text(bytes, run)
      const blank = bytes.indexOf(blankLine, run.end)
      const frame = bytes.subarray(run.end, blank < 0 ? bytes.length : blank + 2)
      run.start = run.end += frame.length
      const event = this.#events.read(frame.toString('utf8'))
      if (event !== undefined) this.#event(event, frame)
    }
    this.#text(bytes, run)
  }

  /** Whether the next frame is of text too, and so has become part of the run. After the end of a choice none is. */
  #continues(run: Run, slab: Slab): boolean {
    const template = this.#template
    if (template === undefined || this.#finished.size > 0) return false
    const end = template.endOf(slab, run.end, this.#rename && run.nameEnds)
    if (end < 0) return false
    run.textBytes += template.textBytes
    run.end = end
    run.frames++
    return true
  }

  /** Gives out a run of frames of text, and leaves an empty one. */
  #text(bytes: Buffer, run: Run): void {
    if (run.frames > 0) this.#pieces.push(new ContentFrames(this.#renamed(bytes, run), run.textBytes))
    run.frames = run.textBytes = run.nameEnds.length = 0
  }

  #renamed(bytes: Buffer, { start, end, frames, nameEnds }: Run): Buffer {
    if (this.#rename === undefined) return bytes.subarray(start, end)
    const pieces: Buffer[] = []
    let at = start
    // A frame that was no text after all may have left the end of one more name behind.
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
      // What the vendor counted is owed, whatever became of the answer.
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
    if (this.#lessons >= mostLessons) return
    const template = FrameTemplate.of(frame, chunk, this.#template)
    if (template === undefined || (this.#rename !== undefined && template.nameBytes === 0)) return
    this.#template = template
    this.#lessons++
  }
}

function isDone(data: string): boolean {
  return data.trim() === '[DONE]'
}
