/**
 * Reads the stream of a responses endpoint. Most frames contain only a delta of the current item and are passed on as
 * bytes, together with all others that arrived with them. All other frames are parsed, and so are deltas that are not in
 * OpenAI's usual form: without a sequence number, without the event's name, or with an id that is not the item's.
 */
import { ContentFrames, type ResponsePiece } from '../contract.ts'
import { EventReader } from '../event-reader.ts'
import { billed, unreadable } from '../failure.ts'
import type { FrameSource } from '../frame-flow.ts'
import { Framer, jsonIn, type VendorEvent } from '../framing.ts'
import { withoutOwnCosts } from '../own-costs.ts'
import { isRecord } from '../../wire/json.ts'
import { chatUsage } from '../../wire/response-usage.ts'
import type { ResponseEvent } from '../../wire/responses.ts'

export interface ResponseEventOptions {
  /** The public model name that the response must carry; undefined if the vendor's name is the same. */
  readonly rename: string | undefined
  /** True to parse every frame, for a consumer that cannot use bytes. */
  readonly parsed: boolean
  /** True for a consumer that translates events: deltas that arrive together become one event. Default false. */
  readonly inChunks?: boolean | undefined
  /** Converts an error object inside the stream to the error to throw. */
  readonly failure: (error: unknown) => Error
  /** See `Call.costs`. */
  readonly costs?: ((dollars: number) => void) | undefined
}

/** Ends with the last event of the response; throws if the stream ends without one. */
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
  /** The `item_id` field of the newest item, as JSON: every delta of it contains these characters. */
  #itemField: string | undefined
  #itemIndex: number | undefined

  constructor(options: ResponseEventOptions) {
    this.#options = options
  }

  *push(bytes: Buffer): Generator<ResponsePiece> {
    const frames = this.#framer.push(bytes)
    if (frames === undefined) return
    const deltas = this.#options.inChunks === true ? new Deltas() : undefined
    let plain = 0
    let textBytes = 0
    for (let at = 0; at < frames.length;) {
      const next = frames.indexOf('\n\n', at)
      const end = next < 0 ? frames.length : next + 2
      const text = frames.toString('utf8', at, end)
      const delta = this.#itemField === undefined ? undefined : deltaIn(text, this.#itemField)
      if (delta !== undefined) {
        if (deltas === undefined) textBytes += Buffer.byteLength(delta)
        else yield* deltas.add(nameIn(text), this.#itemIndex, delta)
      } else {
        if (deltas !== undefined) yield* deltas.take()
        else if (plain < at) yield new ContentFrames(frames.subarray(plain, at), textBytes)
        plain = end
        textBytes = 0
        const event = this.#events.read(text)
        if (event !== undefined) yield* this.#event(event)
        if (this.done) return
      }
      at = end
    }
    if (deltas !== undefined) yield* deltas.take()
    else if (plain < frames.length) yield new ContentFrames(frames.subarray(plain), textBytes)
  }

  /** The connection has ended. */
  *end(): Generator<ResponsePiece> {
    const event = this.#events.last(this.#framer.rest())
    if (event !== undefined) yield* this.#event(event)
    if (!this.done) throw unreadable("the vendor's stream ended before the response was complete")
  }

  *#event({ name, data }: VendorEvent): Generator<ResponsePiece> {
    if (data === '' || data.trim() === '[DONE]') return
    const event = withoutOwnCosts(parseEvent(data, name), this.#options.costs)
    if (event.type === 'message') throw this.#options.failure(event['error'] ?? event)
    const { type, response, item, output_index: index } = event
    const hasFailed = type === 'error' || type === 'response.failed'
    const error = (type === 'response.failed' && response?.error) || (event['error'] ?? (hasFailed ? event : undefined))
    if (error) throw billed(this.#options.failure(error), chatUsage(response?.usage, response?.output))
    if (type === 'response.output_item.added' && typeof item?.id === 'string' && !this.#options.parsed) {
      this.#itemField = `"item_id":${JSON.stringify(item.id)}`
      this.#itemIndex = index
    }
    if (ends.has(type)) this.done = true
    const { rename } = this.#options
    yield rename === undefined || response === undefined
      ? event
      : { ...event, response: { ...response, model: rename } }
  }
}

/** Deltas of one kind that arrived together. */
class Deltas {
  #event: { readonly type: string; readonly output_index?: number; delta: string } | undefined;

  /** Yields what was added before, if the delta is of another kind. */
  *add(type: string, index: number | undefined, delta: string): Generator<ResponseEvent> {
    if (this.#event?.type === type && this.#event.output_index === index) {
      this.#event.delta += delta
      return
    }
    yield* this.take()
    this.#event = { type, ...(index !== undefined && { output_index: index }), delta }
  }

  *take(): Generator<ResponseEvent> {
    const event = this.#event
    this.#event = undefined
    if (event !== undefined) yield event
  }
}

function nameIn(frame: string): string {
  return frame.slice('event: '.length, frame.indexOf('\n'))
}

const numbered = /"sequence_number": ?\d/
const deltaField = /"delta": ?"([^"\\]*(?:\\.[^"\\]*)*)"/

/** The text of the delta, if the frame is a delta of this item in the usual form; otherwise undefined. */
function deltaIn(frame: string, itemField: string): string | undefined {
  if (!frame.startsWith('event: response.')) return undefined
  const line = frame.indexOf('\n')
  const name = frame.slice('event: '.length, line)
  if (!name.endsWith('.delta') || !frame.startsWith('data: {', line + 1)) return undefined
  if (frame.indexOf('\n', line + 1) !== frame.length - 2) return undefined
  if (!frame.includes(itemField) && !frame.includes(itemField.replace(':', ': '))) return undefined
  if (!frame.includes(`"type":"${name}"`) && !frame.includes(`"type": "${name}"`)) return undefined
  const delta = numbered.test(frame) ? deltaField.exec(frame)?.[1] : undefined
  return delta?.includes('\\') === true ? unescaped(delta) : delta
}

/** Resolves the escapes of a JSON string; undefined if they are invalid. */
function unescaped(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return undefined
  }
}

function parseEvent(data: string, name: string): ResponseEvent {
  const value = jsonIn(data)
  if (!isRecord(value)) throw unreadable('the vendor sent an event that is not an object')
  const { type, response, item } = value
  if (isWrong(response) || isWrong(item)) throw unreadable('the vendor sent a broken event')
  return typeof type === 'string' ? (value as ResponseEvent) : { ...value, type: name }
}

function isWrong(part: unknown): boolean {
  return part !== undefined && (typeof part !== 'object' || part === null)
}
