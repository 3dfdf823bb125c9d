/** The ids of the events of a stream: their numbers, from 1. Comments have none. */
import { invalid, type GatewayError } from '../../errors.ts'
import { header, type Exchange } from '../../http/exchange.ts'
import type { EventPlaces } from './recording.ts'

/** Numbers the events of one stream. Each piece that it gets consists of whole events and comments. */
export class EventNumbers implements EventPlaces {
  last = 0
  readonly after: EventPlaces['after'] = positionAfter

  /** The same events, each with its number. */
  of(piece: string | Uint8Array): Uint8Array {
    const bytes =
      typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece.buffer, piece.byteOffset, piece.length)
    // Each byte is one character, so that no text is decoded.
    const text = bytes.toString('latin1')
    let numbered = ''
    for (let at = 0, next: number; at < text.length; at = next) {
      const end = text.indexOf('\n\n', at)
      next = end === -1 ? text.length : end + 2
      numbered += text[at] === ':' ? text.slice(at, next) : `id: ${++this.last}\n${text.slice(at, next)}`
    }
    return Buffer.from(numbered, 'latin1')
  }
}

/** Where the bytes after an event begin; 0: after none. Undefined if the event is not there. */
export function positionAfter(stream: Uint8Array, event: number): number | undefined {
  if (event === 0) return 0
  const bytes = Buffer.from(stream.buffer, stream.byteOffset, stream.length)
  const line = `id: ${event}\n`
  // Data is JSON on one line, so only an event can begin like this after an empty line.
  const at = bytes.subarray(0, line.length).toString() === line ? 0 : bytes.indexOf(`\n\n${line}`)
  const end = at === -1 ? -1 : bytes.indexOf('\n\n', at + line.length)
  return end === -1 ? undefined : end + 2
}

/** The number of the last event that the client has got. Undefined if it does not say. Throws 400 for anything else. */
export function lastEventOf(exchange: Pick<Exchange, 'headers'>): number | undefined {
  const id = header(exchange, 'last-event-id')
  if (id === undefined || id === '') return undefined
  if (/^\d{1,9}$/.test(id)) return Number(id)
  throw unknownEvent(id)
}

export function unknownEvent(id: string | number): GatewayError {
  return invalid(`The stream has no event with the id "${String(id).slice(0, 40)}", which "Last-Event-ID" names.`)
}
