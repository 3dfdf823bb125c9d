/** Answers in events that say themselves what they are, as images and transcriptions have them. */
import { Verbatim } from '../providers/contract.ts'
import { retrySame } from '../providers/failure.ts'
import { release } from './chunk-stream.ts'

/** Events that have begun well: the first is there, the rest still to come. */
export interface OpenEvents<Event> {
  readonly first: Event | Verbatim<Event>
  readonly rest: AsyncIterator<Event | Verbatim<Event>>
}

/** Reads the first event, so that an error in its place still becomes a status or another attempt. */
export async function beginEvents<Event>(events: AsyncIterable<Event | Verbatim<Event>>): Promise<OpenEvents<Event>> {
  const rest = events[Symbol.asyncIterator]()
  const first = await rest.next()
  if (first.done !== true) return { first: first.value, rest }
  throw retrySame(new Error('the vendor ended the answer before its first event'))
}

/** All events, each with the text it was parsed from where the provider has kept it. */
export async function* eventsOf<Event>({ first, rest }: OpenEvents<Event>): AsyncGenerator<Printed<Event>, void, void> {
  try {
    yield printed(first)
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield printed(next.value)
  } finally {
    release(rest)
  }
}

/** An event, and the JSON text it came in. */
export interface Printed<Event> {
  readonly event: Event
  readonly bytes?: Uint8Array
}

function printed<Event>(event: Event | Verbatim<Event>): Printed<Event> {
  return event instanceof Verbatim ? { event: event.value, bytes: event.bytes } : { event }
}
