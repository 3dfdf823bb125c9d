/**
 * Reads an OpenAI-style chat stream. Most frames contain only a text delta and are passed on as bytes, together with all
 * others that arrived with them. Frames that matter (tool calls, finish reasons, usage, errors, anything unusual) are
 * parsed.
 */
import { isAscii } from 'node:buffer'
import type { Flow } from '../../http/flow.ts'
import { ContentFrames, type ChatPiece } from '../contract.ts'
import { unreadable } from '../failure.ts'
import { FrameFlow, type FrameSource } from '../frame-flow.ts'
import { WordView } from '../frame-window.ts'
import type { VendorEvent } from '../framing.ts'
import { withoutOwnCosts } from '../own-costs.ts'
import type { ChatChunk } from '../../wire/chat.ts'
import { faultIn, parseChunk, saysNothing } from '../chat-chunk.ts'
import { FrameTemplate, type FrameTemplates } from './template.ts'

export interface FrameOptions {
  /** The public model name that the frames must carry. Default: the vendor's name stays. */
  readonly rename?: string | undefined
  /** True to parse every frame, for a consumer that cannot use bytes. Default false. */
  readonly parsed?: boolean
  /** True for a consumer that translates chunks: frames of text that arrive together become one chunk. Default false. */
  readonly inChunks?: boolean | undefined
  /** Converts an error object inside the stream to the error to throw. */
  readonly failure: (error: unknown) => Error
  /** See `Call.costs`. */
  readonly costs?: ((dollars: number) => void) | undefined
  /** What earlier streams of the same model have learnt. Default: nothing. */
  readonly templates?: FrameTemplates | undefined
}

/** Ends with the vendor's `[DONE]`; fails if the stream ends before all of its choices have finished. */
export function readFrames(source: FrameSource, options: FrameOptions): Flow<ChatPiece> {
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
  /** Begin and end of each text, if the frames become a chunk. */
  readonly spans: number[] | undefined
}

class FrameReader extends FrameFlow<ChatPiece> {
  readonly #options: FrameOptions
  readonly #rename: string | undefined
  #template: FrameTemplate | undefined
  #templatesLearnt = 0
  /** The id of the first chunk: frames with another one must be changed. */
  #id: string | undefined
  /** The indexes of all choices so far, and of those that have finished. */
  readonly #begun = new Set<number>()
  readonly #finished = new Set<number>()
  #done = false

  constructor(source: FrameSource, options: FrameOptions) {
    super(source)
    this.#options = options
    if (options.rename !== undefined) this.#rename = JSON.stringify(options.rename)
  }

  protected get isComplete(): boolean {
    return this.#done
  }

  protected readRest(): void {
    const event = this.events.last(this.window.rest())
    if (event !== undefined) this.#event(event)
    const complete = this.#finished.size > 0 && this.#finished.size === this.#begun.size
    if (!this.#done && !complete) throw unreadable("the vendor's stream ended before the response was complete")
    this.#done = true
  }

  protected read(view: WordView, start: number): void {
    const { bytes, size } = view
    const spans = this.#options.inChunks === true ? [] : undefined
    const run: Run = { start, end: start, frames: 0, textBytes: 0, nameEnds: [], spans }
    while (run.end < size && !this.#done) {
      if (this.#continues(run, view)) continue
      this.#text(bytes, run)
      if (this.#recognises(view, run.end)) continue
      const frame = bytes.subarray(run.end, bytes.indexOf(blankLine, run.end) + 2)
      const event = this.events.read(frame.toString('utf8'))
      if (event === undefined || !this.#event(event, frame)) run.end += frame.length
      run.start = run.end
    }
    this.#text(bytes, run)
  }

  /** Looks for the format of the stream's first text among those of earlier streams. */
  #recognises(view: WordView, at: number): boolean {
    const { templates, parsed } = this.#options
    if (this.#template !== undefined || !this.#id || templates === undefined || parsed === true) return false
    const template = templates.templateFor(view, at, this.#id)
    if (template === undefined || !this.#mayPass(template)) return false
    this.#template = template
    return true
  }

  /** Adds the next frame to the run if it contains only text. After the first finish reason every frame is parsed. */
  #continues(run: Run, view: WordView): boolean {
    const template = this.#template
    if (template === undefined || this.#finished.size > 0) return false
    const { spans } = run
    const known = spans?.length ?? 0
    const end = template.endOf(view, run.end, this.#rename === undefined ? undefined : run.nameEnds, spans)
    if (end < 0) {
      // A frame that matched only up to a text has left it.
      if (spans !== undefined) spans.length = known
      return false
    }
    run.textBytes += template.textBytes
    run.end = end
    run.frames++
    return true
  }

  /** Emits the run as one piece, and empties it. */
  #text(bytes: Buffer, run: Run): void {
    const { spans } = run
    if (run.frames > 0) {
      if (spans === undefined) this.pieces.push(new ContentFrames(this.#framesOf(bytes, run), run.textBytes))
      else this.pieces.push(chunkOf(bytes, this.#template as FrameTemplate, spans))
      if (spans !== undefined) spans.length = 0
    }
    run.frames = run.textBytes = run.nameEnds.length = 0
  }

  /** A copy: the memory of the window is shared. A string is as cheap to write, and leaves nothing outside the heap. */
  #framesOf(bytes: Buffer, { start, end, frames, nameEnds }: Run): string | Uint8Array {
    const all = bytes.subarray(start, end)
    const inAscii = isAscii(all)
    if (this.#rename === undefined) return inAscii ? all.toString('latin1') : Buffer.from(all)
    const pieces: Buffer[] = []
    const name = Buffer.from(this.#rename)
    let at = start
    // A frame that matched only up to its model name has left one end too many.
    for (const nameEnd of nameEnds.slice(0, frames)) {
      pieces.push(bytes.subarray(at, nameEnd - (this.#template as FrameTemplate).nameBytes), name)
      at = nameEnd
    }
    pieces.push(bytes.subarray(at, end))
    return Buffer.concat(pieces)
  }

  /** True if the frame needs no change, and the template matches it now. */
  #event({ name, data }: VendorEvent, frame?: Buffer): boolean {
    if (data === '') return false
    if (data.trim() === '[DONE]') return !(this.#done = true)
    const chunk = parseChunk(data)
    const fault = faultIn(chunk, name)
    if (fault !== undefined) {
      // The vendor charges for this usage, although the response failed.
      if (chunk.usage) this.pieces.push({ usage: chunk.usage })
      throw this.#options.failure(fault)
    }
    if (saysNothing(chunk)) return false
    if (frame !== undefined && this.#options.parsed !== true && this.#learns(chunk, frame)) return true
    if (chunk.id || chunk.choices?.length) this.#id ??= chunk.id ?? ''
    for (const { index, finish_reason: reason } of chunk.choices ?? []) {
      this.#begun.add(index ?? 0)
      if (reason) this.#finished.add(index ?? 0)
    }
    const shown = withoutOwnCosts(chunk, this.#options.costs)
    this.pieces.push(this.#options.rename === undefined ? shown : { ...shown, model: this.#options.rename })
    return false
  }

  #learns(chunk: ChatChunk, frame: Buffer): boolean {
    if (this.#templatesLearnt >= maxTemplates || this.#finished.size > 0) return false
    // A choice begins with its role, which the frame of its first text may lack.
    if (!this.#id || chunk.id !== this.#id) return false
    const template = FrameTemplate.of(frame, chunk, this.#template)
    if (template === undefined || !this.#mayPass(template)) return false
    if (template.endOf(new WordView(frame), 0) !== frame.length) return false
    this.#template = template
    this.#templatesLearnt++
    this.#options.templates?.add(template)
    return true
  }

  /** Whether frames that match need no change but that of the name: the role of each choice was sent before. */
  #mayPass({ choices, nameBytes, texts }: FrameTemplate): boolean {
    if (this.#options.inChunks === true) {
      return choices.length === 1 && !texts.includes('text') && this.#begun.has(choices[0] as number)
    }
    return (this.#rename === undefined || nameBytes > 0) && choices.every((index) => this.#begun.has(index))
  }
}

/** One chunk with the texts of several frames. */
function chunkOf(bytes: Buffer, { choices, texts }: FrameTemplate, spans: readonly number[]): ChatChunk {
  const delta: Record<string, string> = {}
  for (let field = 0; field < texts.length; field++) {
    const text = joinedTexts(bytes, spans, field * 2, texts.length * 2)
    delta[texts[field] as string] = text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
  }
  return { choices: [{ index: choices[0] as number, delta }] }
}

/** A longer text is copied as a whole, a shorter one byte by byte. */
const shortText = 48

/** Every `step`-th of the spans, from `first`: decoded once, because decoding many short texts takes much longer. */
function joinedTexts(bytes: Buffer, spans: readonly number[], first: number, step: number): string {
  let size = 0
  for (let at = first; at < spans.length; at += step) size += (spans[at + 1] as number) - (spans[at] as number)
  const all = Buffer.allocUnsafe(size)
  let to = 0
  for (let at = first; at < spans.length; at += step) {
    const start = spans[at] as number
    const end = spans[at + 1] as number
    if (end - start > shortText) to += bytes.copy(all, to, start, end)
    else for (let from = start; from < end; from++) all[to++] = bytes[from] as number
  }
  return all.toString('utf8')
}
