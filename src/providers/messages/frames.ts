/**
 * Reads the stream of a vendor with Anthropic's Messages API. Frames are passed on as bytes; those with more than a delta of
 * text are also parsed.
 */
import { isAscii } from 'node:buffer'
import type { Flow } from '../../http/flow.ts'
import { eventFrame } from '../../http/sse.ts'
import type { MessageEvent } from '../../wire/messages.ts'
import { unreadable } from '../failure.ts'
import { withoutOwnCosts } from '../own-costs.ts'
import { FrameFlow, type FrameSource } from '../frame-flow.ts'
import type { WordView } from '../frame-window.ts'
import { jsonIn, type VendorEvent } from '../framing.ts'
import { MessageFrames, type MessagePiece } from '../message.ts'
import { DeltaTemplate, type DeltaTemplates } from './delta-template.ts'
import { MessageProgress, newBatch, type Batch } from './progress.ts'
import { type Fields, fieldsOf, isRecord, stringOf } from '../../wire/json.ts'

export interface MessageFrameOptions {
  /** The public model name that the message must carry. Default: the vendor's name stays. */
  readonly rename?: string | undefined
  /** True for events as objects, for a consumer that cannot use bytes. Default false. */
  readonly parsed?: boolean
  /** Converts an error object inside the stream to the error to throw. */
  readonly failure: (error: unknown) => Error
  /** See `Call.costs`. */
  readonly costs?: ((dollars: number) => void) | undefined
  /** What earlier streams of the vendor have learnt. */
  readonly templates: DeltaTemplates
}

/** Ends with `message_stop`; fails if the stream ends without it. */
export function readMessageFrames(source: FrameSource, options: MessageFrameOptions): Flow<MessagePiece> {
  return new MessageFrameReader(source, options)
}

const blankLine = Buffer.from('\n\n')

/** Learning does not pay if the vendor writes each frame differently. */
const maxLearnt = 32

class MessageFrameReader extends FrameFlow<MessagePiece> {
  readonly #options: MessageFrameOptions
  #template: DeltaTemplate | undefined
  #learnt = 0
  readonly #progress = new MessageProgress()

  constructor(source: FrameSource, options: MessageFrameOptions) {
    super(source)
    this.#options = options
  }

  protected get isComplete(): boolean {
    return this.#progress.done
  }

  protected readRest(): void {
    const rest = this.window.rest()
    const event = this.events.last(rest)
    if (event !== undefined) {
      const batch = newBatch(0)
      const taken = this.#event(event, `${rest.trimEnd()}\n\n`, batch)
      if (typeof taken === 'string') batch.changed.push(taken)
      this.#pass(batch, undefined, 0)
    }
    if (!this.#progress.done) throw unreadable("the vendor's stream ended before the response was complete")
  }

  protected read(view: WordView, start: number): void {
    const { bytes, size } = view
    const batch = newBatch(start)
    let at = start
    try {
      while (at < size && !this.#progress.done) {
        const end = this.#deltaEnd(view, at, batch)
        if (end >= 0) {
          at = end
          continue
        }
        const frame = bytes.subarray(at, bytes.indexOf(blankLine, at) + 2)
        const text = frame.toString('utf8')
        const event = this.events.read(text)
        const taken = event === undefined ? undefined : this.#event(event, text, batch, frame)
        // Comments, repetitions and events for a consumer of objects are not passed on as they are.
        if (taken !== text) {
          if (at > batch.start) batch.changed.push(Buffer.from(bytes.subarray(batch.start, at)))
          if (taken !== undefined) batch.changed.push(taken)
          batch.start = at + frame.length
        }
        at += frame.length
      }
    } finally {
      this.#pass(batch, bytes, at)
    }
  }

  /** The end of a frame with a delta of text in a known template; -1 for any other. */
  #deltaEnd(view: WordView, at: number, batch: Batch): number {
    if (this.#options.parsed === true || !this.#progress.begun) return -1
    let template = this.#template
    let end = template === undefined ? -1 : template.endOf(view, at)
    if (end < 0) {
      template = this.#options.templates.matching(view, at)
      if (template === undefined) return -1
      this.#template = template
      end = template.endOf(view, at)
    }
    batch.textBytes += (template as DeltaTemplate).textBytes
    batch.hasContent = true
    return end
  }

  /** Emits a batch as one piece: the bytes up to `end`, after what was changed. A copy: the memory of the window is shared. */
  #pass(batch: Batch, bytes: Buffer | undefined, end: number): void {
    const { start, changed, textBytes, hasContent, usage } = batch
    const plain = bytes === undefined || end <= start ? undefined : bytes.subarray(start, end)
    if (plain === undefined && changed.length === 0) return
    const frames = new MessageFrames(frameBytes(changed, plain), textBytes, hasContent, usage)
    frames.id = batch.id
    frames.stopReason = batch.stopReason
    this.pieces.push(frames)
  }

  /** The frame to pass on: `text` itself if nothing has to change, undefined for none. */
  #event({ name, data }: VendorEvent, text: string, batch: Batch, frame?: Buffer): string | undefined {
    if (data === '' || data === '[DONE]') return undefined
    const given = parsedObject(data)
    const event = withoutOwnCosts(given, this.#options.costs)
    const { type } = event
    if (typeof type !== 'string' || type === 'error') throw this.#options.failure(event['error'] ?? event)
    if (!this.#progress.accept(type, event, batch)) return undefined
    const first = type === 'message_start'
    if (first) batch.id = stringOf(fieldsOf(event['message'])['id'])
    else if (type === 'message_delta') batch.stopReason = stringOf(fieldsOf(event['delta'])['stop_reason'])
    if (this.#options.parsed === true) {
      this.pieces.push((first ? this.#named(event) : event) as unknown as MessageEvent)
      return undefined
    }
    if (type === 'content_block_delta') this.#learn(frame, event)
    const { rename } = this.#options
    if (first && rename !== undefined) {
      if (event !== given) return eventFrame(type, this.#named(event))
      return renamed(text, fieldsOf(event['message'])['model'], rename) ?? eventFrame(type, this.#named(event))
    }
    // The official clients go by the name.
    return name === type && event === given ? text : eventFrame(type, event)
  }

  #named(event: Fields): Fields {
    const { rename } = this.#options
    return rename === undefined ? event : { ...event, message: { ...fieldsOf(event['message']), model: rename } }
  }

  #learn(frame: Buffer | undefined, event: Fields): void {
    if (frame === undefined || this.#learnt >= maxLearnt) return
    const template = DeltaTemplate.of(frame, fieldsOf(event['delta']))
    if (template === undefined) return
    this.#learnt++
    this.#template = template
    this.#options.templates.add(template)
  }
}

/** A string is as cheap to write, and leaves nothing outside the heap. */
function frameBytes(changed: readonly (string | Buffer)[], plain: Buffer | undefined): string | Buffer {
  if (changed.length === 0 && plain !== undefined) return isAscii(plain) ? plain.toString('latin1') : Buffer.from(plain)
  const pieces = changed.map((each) => (typeof each === 'string' ? Buffer.from(each) : each))
  return Buffer.concat(plain === undefined ? pieces : [...pieces, plain])
}

function parsedObject(data: string): Fields {
  const value = jsonIn(data)
  if (!isRecord(value)) throw unreadable('the vendor sent an event that is not an object')
  return value
}

/**
 * JSON text with another value of its field `model`, and every other byte unchanged. Undefined if it is not certain which
 * bytes these are: a tool of the client may have a field of that name too.
 */
export function renamed(text: string, model: unknown, name: string): string | undefined {
  if (typeof model !== 'string') return undefined
  const value = JSON.stringify(model)
  const found = [...text.matchAll(/"model"\s*:\s*/g)]
  const [first] = found
  if (first === undefined || found.length > 1) return undefined
  const start = first.index + first[0].length
  return text.startsWith(value, start)
    ? text.slice(0, start) + JSON.stringify(name) + text.slice(start + value.length)
    : undefined
}
