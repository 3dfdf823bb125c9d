/** Reads JSON values from an event stream, for vendors whose format is not OpenAI's. */
import { EventReader } from './event-reader.ts'
import { unreadable } from './failure.ts'
import { Framer, type VendorEvent } from './framing.ts'

/**
 * Yields the JSON values of the events, in batches that arrived together. An event that cannot be read is yielded as the
 * error to throw, after the valid ones before it. The generator ends with the connection; its caller decides whether the
 * response was complete. `parse`: default `JSON.parse`.
 */
export async function* readValues(
  source: AsyncIterable<Buffer>,
  parse: (text: string) => unknown = JSON.parse,
): AsyncGenerator<unknown[], void, void> {
  const framer = new Framer()
  const events = new EventReader()
  for await (const bytes of source) {
    const frames = framer.push(bytes)?.toString('utf8').split('\n\n') ?? []
    const values = frames.flatMap((frame) => valueOf(frame, events, parse))
    if (values.length > 0) yield values
  }
  const last = valueIn(events.last(framer.rest()), parse)
  if (last.length > 0) yield last
}

function valueOf(frame: string, events: EventReader, parse: (text: string) => unknown): unknown[] {
  try {
    return valueIn(events.read(frame), parse)
  } catch (error) {
    return [error]
  }
}

function valueIn({ data = '' }: Partial<VendorEvent> = {}, parse: (text: string) => unknown): unknown[] {
  if (data === '' || data === '[DONE]') return []
  try {
    return [parse(data)]
  } catch {
    return [unreadable('the vendor sent an event that is not JSON')]
  }
}
