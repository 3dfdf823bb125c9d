/** Streams of typed events, as images and transcriptions have them. */
import { release } from '../http/flow-of.ts'
import { Verbatim } from '../providers/contract.ts'
import { unreadable } from '../providers/failure.ts'

/** A stream whose first event has arrived. */
export interface OpenEvents<Event> {
  readonly first: Event | Verbatim<Event>
  readonly rest: AsyncIterator<Event | Verbatim<Event>>
}

/** Reads the first event: an error before it can still become an HTTP status, or another attempt. */
export async function beginEvents<Event>(events: AsyncIterable<Event | Verbatim<Event>>): Promise<OpenEvents<Event>> {
  const rest = events[Symbol.asyncIterator]()
  const first = await rest.next()
  if (first.done !== true) return { first: first.value, rest }
  throw unreadable('the vendor ended the response before its first event')
}

/** All events, each with its original JSON text if the provider kept it. */
export async function* eventsOf<Event>({ first, rest }: OpenEvents<Event>): AsyncGenerator<Parsed<Event>, void, void> {
  try {
    yield parsedEvent(first)
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield parsedEvent(next.value)
  } finally {
    release(rest)
  }
}

/** An event, and the JSON text it was parsed from. */
export interface Parsed<Event> {
  readonly event: Event
  readonly bytes?: Uint8Array
}

function parsedEvent<Event>(event: Event | Verbatim<Event>): Parsed<Event> {
  return event instanceof Verbatim ? { event: event.value, bytes: event.bytes } : { event }
}
