/**
 * The bytes of a responses stream → pieces. Most frames hold nothing but a delta of an item that is known: they stay
 * bytes, all that arrived together in one piece. Frames that begin or end something are parsed, as is whatever is not
 * printed in OpenAI's way: unnumbered, without the name of the event, or under another id than the item began with.
 */
import { isJson } from '../../http/json.ts'
import { ContentFrames, type ResponsePiece } from '../contract.ts'
import { EventReader } from '../event-reader.ts'
import { retrySame } from '../failure.ts'
import { eventIn, Framer, type VendorEvent } from '../framing.ts'
import type { ResponseEvent } from '../../wire/responses.ts'
import type { FrameSource } from './frames.ts'

export interface ResponseEventOptions {
  /** The name the client used, when it differs from the vendor's: the response is then made to carry it. */
  readonly rename: string | undefined
  /** Every frame is parsed: for a reader that has no use for bytes. */
  readonly parsed: boolean
  /** An error object inside the stream → what to throw. */
  readonly failure: (error: unknown) => Error
}

/** Ends with the event that ends the response; throws when the stream breaks off. */
export async function* readResponseEvents(
  source: FrameSource,
  options: ResponseEventOptions,
): AsyncGenerator<ResponsePiece, void, void> {
  const reader = new ResponseReader(options)
  for await (const bytes of source) {
    yield* reader.push(bytes)
    if (reader.done) return source.settle?.()
  }
  yield* reader.end()
}

const ends = new Set(['response.completed', 'response.incomplete', 'response.cancelled'])

class ResponseReader {
  done = false
  readonly #options: ResponseEventOptions
  readonly #framer = new Framer()
  readonly #events = new EventReader()
  /** What a delta of the item begun last contains. */
  #mark: string | undefined

  constructor(options: ResponseEventOptions) {
    this.#options = options
  }

  *push(bytes: Buffer): Generator<ResponsePiece> {
    const slab = this.#framer.push(bytes)
    if (slab === undefined) return
    let plain = 0
    let textBytes = 0
    for (let at = 0; at < slab.length;) {
      const next = slab.indexOf('\n\n', at)
      const end = next < 0 ? slab.length : next + 2
      const text = slab.toString('utf8', at, end)
      const delta = this.#mark === undefined ? undefined : deltaIn(text, this.#mark)
      if (delta !== undefined) textBytes += Buffer.byteLength(delta)
      else {
        if (plain < at) yield new ContentFrames(slab.subarray(plain, at), textBytes)
        plain = end
        textBytes = 0
        const event = this.#events.read(text)
        if (event !== undefined) yield* this.#event(event)
        if (this.done) return
      }
      at = end
    }
    if (plain < slab.length) yield new ContentFrames(slab.subarray(plain), textBytes)
  }

  /** The connection is over: what came without its last blank line may still be the end that was meant. */
  *end(): Generator<ResponsePiece> {
    const event = eventIn(this.#framer.rest())
    if (event !== undefined && isJson(event.data)) yield* this.#event(event)
    if (!this.done) throw retrySame(new Error('the vendor broke off in the middle of its answer'))
  }

  *#event({ name, data }: VendorEvent): Generator<ResponsePiece> {
    if (data === '' || data.trim() === '[DONE]') return
    const event = parseEvent(data, name)
    if (event.type === 'message') throw this.#options.failure(event['error'] ?? event)
    const { type, response, item } = event
    const error =
      type === 'error' ? (event['error'] ?? event) : type === 'response.failed' ? response?.error : event['error']
    if (error) throw this.#options.failure(error)
    if (type === 'response.output_item.added' && typeof item?.id === 'string' && !this.#options.parsed) {
      this.#mark = `"item_id":${JSON.stringify(item.id)}`
    }
    if (ends.has(type)) this.done = true
    const { rename } = this.#options
    yield rename === undefined || response === undefined
      ? event
      : { ...event, response: { ...response, model: rename } }
  }
}

const numbered = /"sequence_number": ?\d/
const deltaField = /"delta": ?"([^"\\]*(?:\\.[^"\\]*)*)"/

/** The text of the delta, if the frame is one of this item in the usual form; else undefined. */
function deltaIn(frame: string, mark: string): string | undefined {
  if (!frame.startsWith('event: response.')) return undefined
  const line = frame.indexOf('\n')
  const name = frame.slice('event: '.length, line)
  if (!name.endsWith('.delta') || !frame.startsWith('data: {', line + 1)) return undefined
  if (frame.indexOf('\n', line + 1) !== frame.length - 2) return undefined
  if (!frame.includes(mark) && !frame.includes(mark.replace(':', ': '))) return undefined
  if (!frame.includes(`"type":"${name}"`) && !frame.includes(`"type": "${name}"`)) return undefined
  const delta = numbered.test(frame) ? deltaField.exec(frame)?.[1] : undefined
  return delta?.includes('\\') === true ? unescaped(delta) : delta
}

/** Undefined for what is no string of JSON. */
function unescaped(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return undefined
  }
}

function parseEvent(data: string, name: string): ResponseEvent {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    throw retrySame(new Error('the vendor sent an event that is not JSON'))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw retrySame(new Error('the vendor sent an event that is no object'))
  }
  const { type, response, item } = value as Record<string, unknown>
  if (isWrong(response) || isWrong(item)) throw retrySame(new Error('the vendor sent a broken event'))
  return typeof type === 'string' ? (value as ResponseEvent) : { ...value, type: name }
}

function isWrong(part: unknown): boolean {
  return part !== undefined && (typeof part !== 'object' || part === null)
}
