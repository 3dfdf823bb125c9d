/** The bytes of an event stream → the JSON values of its events, for vendors with formats of their own. */
import { EventReader } from './event-reader.ts'
import { retrySame } from './failure.ts'
import { eventIn, Framer, type VendorEvent } from './framing.ts'

/**
 * All values that arrived together come together. An event that cannot be read comes as the error to throw, behind the
 * good ones in front of it. Ends with the connection: whether that was the end of the answer is for its reader to know.
 */
export async function* readValues(source: AsyncIterable<Buffer>): AsyncGenerator<unknown[], void, void> {
  const framer = new Framer()
  const events = new EventReader()
  for await (const bytes of source) {
    const frames = framer.push(bytes)?.toString('utf8').split('\n\n') ?? []
    const values = frames.flatMap((frame) => valueOf(frame, events))
    if (values.length > 0) yield values
  }
  // What came without its last blank line may still be the event that was meant; if not, it is the rest of a broken one.
  const last = valueIn(eventIn(framer.rest())).filter((value) => !(value instanceof Error))
  if (last.length > 0) yield last
}

function valueOf(frame: string, events: EventReader): unknown[] {
  try {
    return valueIn(events.read(frame))
  } catch (error) {
    return [error]
  }
}

function valueIn({ data = '' }: Partial<VendorEvent> = {}): unknown[] {
  if (data === '' || data === '[DONE]') return []
  try {
    return [JSON.parse(data)]
  } catch {
    return [retrySame(new Error('the vendor sent an event that is not JSON'))]
  }
}
