/**
 * Reads an OpenAI-style chat stream. Most frames contain only a text delta and are passed on as bytes, together with all
 * others that arrived with them. Frames that matter (tool calls, finish reasons, usage, errors, anything unusual) are
 * parsed.
 */
import { isAscii } from 'node:buffer'
import type { Flow } from '../../http/flow.ts'
import { isJson } from '../../http/json.ts'
import { ContentFrames, type ChatPiece } from '../contract.ts'
import { unreadable } from '../failure.ts'
import { FrameFlow, type FrameSource } from '../frame-flow.ts'
import { eventIn, type VendorEvent } from '../framing.ts'
import type { ChatChunk } from '../../wire/chat.ts'
import { faultIn, parseChunk, saysNothing } from '../chat-chunk.ts'
import { KnownFrame, sizeOf, textOf, KnownFrames, type Recognised } from '../known-frames.ts'

export interface FrameOptions {
  /** The public model name that the frames must carry. Default: the vendor's name stays. */
  readonly rename?: string | undefined
  /** True to parse every frame, for a consumer that cannot use bytes. Default false. */
  readonly parsed?: boolean
  /** True for a consumer that translates chunks: frames of text that arrive together become one chunk. Default false. */
  readonly inChunks?: boolean | undefined
  /** Converts an error object inside the stream to the error to throw. */
  readonly failure: (error: unknown) => Error
  /** What earlier streams of the vendor have learnt. Default: nothing. */
  readonly known?: KnownFrames<TextFrame> | undefined
}

/** Ends with the vendor's `[DONE]`; fails if the stream ends before all of its choices have finished. */
export function readFrames(source: FrameSource, options: FrameOptions): Flow<ChatPiece> {
  return new FrameReader(source, options)
}

const blankLine = Buffer.from('\n\n')

/** Maximum number of forms learnt in one stream: learning does not pay if the vendor writes each frame differently. */
const maxForms = 16

const textKeys = new Set(['content', 'reasoning_content', 'reasoning', 'refusal', 'text'])

/** What is known of frames with nothing but text. */
export interface TextFrame {
  /** The indexes of the choices. */
  readonly choices: readonly number[]
  /** The field `model` as it is written, one byte a character; undefined unless the frame has it exactly once. */
  readonly model: string | undefined
}

/** Consecutive frames of text in one form. */
interface Run {
  start: number
  end: number
  form: KnownFrame<TextFrame> | undefined
  textBytes: number
  /** What each of the texts says in all frames. */
  texts: string[]
}

class FrameReader extends FrameFlow<ChatPiece> {
  readonly #options: FrameOptions
  readonly #known: KnownFrames<TextFrame>
  /** The public name as JSON, one byte a character. */
  readonly #name: string | undefined
  #learnt = 0
  /** The id of the first chunk: frames with another one must be changed. */
  #id: string | undefined
  /** The indexes of all choices so far, and of those that have finished. */
  readonly #begun = new Set<number>()
  readonly #finished = new Set<number>()
  #done = false

  constructor(source: FrameSource, options: FrameOptions) {
    super(source)
    this.#options = options
    this.#known = options.known ?? new KnownFrames()
    if (options.rename !== undefined) this.#name = Buffer.from(JSON.stringify(options.rename)).toString('latin1')
  }

  protected get isComplete(): boolean {
    return this.#done
  }

  /** Some vendors omit the blank line after the last event. */
  protected readRest(): void {
    const event = eventIn(this.window.rest())
    if (event !== undefined && (isDone(event.data) || isJson(event.data))) this.#event(event)
    const complete = this.#finished.size > 0 && this.#finished.size === this.#begun.size
    if (!this.#done && !complete) throw unreadable("the vendor's stream ended before the response was complete")
    this.#done = true
  }

  protected read(frames: Buffer): void {
    const bytes = this.#options.parsed === true ? '' : frames.toString('latin1')
    const run: Run = { start: 0, end: 0, form: undefined, textBytes: 0, texts: [] }
    while (run.end < frames.length && !this.#done) {
      const text = this.#text(bytes, run.end)
      if (text !== undefined) {
        if (text.form !== run.form) this.#pass(frames, run)
        this.#add(text, run)
        continue
      }
      this.#pass(frames, run)
      const end = frames.indexOf(blankLine, run.end) + 2
      const event = this.events.read(frames.toString('utf8', run.end, end))
      if (event === undefined || !this.#event(event, bytes, run.end, end)) run.end = end
      run.start = run.end
    }
    this.#pass(frames, run)
  }

  /** The frame at `at` if it has nothing but text, and needs no change but that of the name: its choices have begun. */
  #text(bytes: string, at: number): Recognised<TextFrame> | undefined {
    // After the first finish reason every frame is parsed.
    if (!this.#id || this.#finished.size > 0) return undefined
    const found = this.#known.match(bytes, at)
    if (found?.id !== this.#id) return undefined
    const { about, texts } = found.form
    const { inChunks, rename } = this.#options
    const fits = inChunks === true ? about.choices.length === 1 && !texts.includes('text') : rename === undefined
    return (fits || (inChunks !== true && about.model !== undefined)) &&
      about.choices.every((each) => this.#begun.has(each))
      ? found
      : undefined
  }

  #add({ form, end, texts }: Recognised<TextFrame>, run: Run): void {
    run.form = form
    run.end = end
    if (this.#options.inChunks === true) run.texts = texts.map((text, index) => (run.texts[index] ?? '') + text)
    else for (const text of texts) run.textBytes += sizeOf(text)
  }

  /** Emits the run as one piece, and empties it. */
  #pass(frames: Buffer, run: Run): void {
    const { form, start, end, texts, textBytes } = run
    run.start = end
    run.form = undefined
    run.textBytes = 0
    run.texts = []
    if (form === undefined) return
    if (this.#options.inChunks === true) {
      const delta = Object.fromEntries(form.texts.map((name, index) => [name, textOf(texts[index] ?? '')]))
      this.pieces.push({ choices: [{ index: form.about.choices[0] as number, delta }] })
    } else this.pieces.push(new ContentFrames(this.#named(frames.subarray(start, end), form.about), textBytes))
  }

  /** A copy: the memory of the window is shared. A string is as cheap to write, and leaves nothing outside the heap. */
  #named(frames: Buffer, { model = '' }: TextFrame): string | Buffer {
    const name = this.#name
    const inAscii = isAscii(frames)
    if (name === undefined) return inAscii ? frames.toString('latin1') : Buffer.from(frames)
    const named = model.slice(0, model.indexOf('"', model.indexOf(':'))) + name
    const text = frames.toString('latin1').split(model).join(named)
    return inAscii && isAscii(Buffer.from(name, 'latin1')) ? text : Buffer.from(text, 'latin1')
  }

  /** True if the frame from `at` to `end` needs no change, and its form is known now. */
  #event({ name, data }: VendorEvent, bytes = '', at = 0, end = 0): boolean {
    if (data === '') return false
    if (isDone(data)) return !(this.#done = true)
    const chunk = parseChunk(data)
    const fault = faultIn(chunk, name)
    if (fault !== undefined) {
      // The vendor charges for this usage, although the response failed.
      if (chunk.usage) this.pieces.push({ usage: chunk.usage })
      throw this.#options.failure(fault)
    }
    if (saysNothing(chunk)) return false
    if (bytes !== '' && this.#learns(chunk, bytes.slice(at, end)) && this.#text(bytes, at) !== undefined) return true
    if (chunk.id || chunk.choices?.length) this.#id ??= chunk.id ?? ''
    for (const { index, finish_reason: reason } of chunk.choices ?? []) {
      this.#begun.add(index ?? 0)
      if (reason) this.#finished.add(index ?? 0)
    }
    this.pieces.push(this.#options.rename === undefined ? chunk : { ...chunk, model: this.#options.rename })
    return false
  }

  #learns(chunk: ChatChunk, frame: string): boolean {
    // A choice begins with its role, which the frame of its first text may lack.
    if (this.#learnt >= maxForms || !this.#id || chunk.id !== this.#id || !isText(chunk)) return false
    const [model, ...more] = frame.match(/"model"\s*:\s*"(?:[^"\\]|\\.)*"/g) ?? []
    const choices = (chunk.choices ?? []).map(({ index }) => index ?? 0)
    this.#learnt++
    this.#known.add(KnownFrame.of(frame, textKeys, { choices, model: more.length === 0 ? model : undefined }))
    return true
  }
}

/** Whether a chunk has all fields that the gateway needs, and only text. */
function isText({ id, created, choices, usage, error, object }: ChatChunk): boolean {
  if (!id || !created || usage || error || !choices?.length) return false
  if (object !== 'chat.completion.chunk' && object !== 'text_completion') return false
  return choices.every(({ index, delta, text, finish_reason: finish, logprobs }) => {
    const { role: _, tool_calls: calls, ...rest } = delta ?? { text }
    const said = Object.entries(rest).filter(([, value]) => !isEmpty(value))
    if (index === undefined || finish || logprobs || calls?.length) return false
    return said.length > 0 && said.every(([key, value]) => textKeys.has(key) && typeof value === 'string')
  })
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

function isDone(data: string): boolean {
  return data.trim() === '[DONE]'
}
