/** Streams of typed events, as images and transcriptions have them. */
import { Verbatim } from '../providers/contract.ts'

/** An event, and the JSON text it was parsed from. */
export interface Parsed<Event> {
  readonly event: Event
  readonly bytes?: Uint8Array
}

/** All events, each with its original JSON text if the provider kept it. */
export async function* parsedEvents<Event>(
  events: AsyncIterable<Event | Verbatim<Event>>,
): AsyncGenerator<Parsed<Event>, void, void> {
  for await (const event of events)
    yield event instanceof Verbatim ? { event: event.value, bytes: event.bytes } : { event }
}
