/** The bytes of an event stream → the JSON values of its events, for vendors with formats of their own. */
import { unavailable } from './failure.ts'
import { eventIn, Framer } from './framing.ts'

/**
 * All values that arrived together come together. An event that cannot be read comes as the error to throw, behind the
 * good ones in front of it. Ends with the connection: whether that was the end of the answer is for its reader to know.
 */
export async function* readValues(source: AsyncIterable<Buffer>): AsyncGenerator<unknown[], void, void> {
  const framer = new Framer()
  for await (const bytes of source) {
    const values = (framer.push(bytes)?.toString('utf8').split('\n\n') ?? []).flatMap(valueIn)
    if (values.length > 0) yield values
  }
  // What came without its last blank line may still be the event that was meant; if not, it is the rest of a broken one.
  const last = valueIn(framer.rest()).filter((value) => !(value instanceof Error))
  if (last.length > 0) yield last
}

function valueIn(frame: string): unknown[] {
  const { data = '' } = eventIn(frame) ?? {}
  if (data === '' || data === '[DONE]') return []
  try {
    return [JSON.parse(data)]
  } catch {
    return [unavailable('same', new Error('the vendor sent an event that is not JSON'))]
  }
}
