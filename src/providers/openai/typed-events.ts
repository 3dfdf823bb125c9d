/** Streams of events that name their own type, as images and transcriptions have them. */
import { Verbatim } from '../contract.ts'
import { EventReader } from '../event-reader.ts'
import { retrySame } from '../failure.ts'
import { Framer } from '../framing.ts'
import type { Begun } from './vendor.ts'

interface Typed {
  readonly type: string
}

/**
 * The events with the JSON text they came in, parsed once. `isLast` tells the events that complete an answer: a stream
 * that ends without one, and without `[DONE]`, was broken off, and throws. `maxBytes`: of one event.
 */
export async function* readTyped<Event extends Typed>(
  { transfer, failure }: Begun,
  maxBytes: number,
  isLast: (event: Event) => boolean,
): AsyncGenerator<Verbatim<Event>, void, void> {
  const framer = new Framer(maxBytes)
  const events = new EventReader()
  let complete = false
  const read = function* (frames: string[]): Generator<Verbatim<Event>, boolean> {
    for (const frame of frames) {
      const data = events.read(frame)?.data ?? ''
      if (data === '[DONE]') return true
      if (data === '') continue
      const event = parse(data, failure) as Verbatim<Event>
      complete ||= isLast(event.value)
      yield event
    }
    return false
  }
  for await (const bytes of transfer) {
    const slab = framer.push(bytes)
    if (slab !== undefined && (yield* read(slab.toString('utf8').split('\n\n')))) return transfer.settle()
  }
  // The connection may close without the last blank line.
  if (!complete) yield* read([framer.rest()])
  if (!complete) throw retrySame(new Error('the vendor broke off in the middle of its answer'))
}

function parse(data: string, failure: Begun['failure']): Verbatim<Typed> {
  let value: Partial<Typed> & { error?: unknown }
  try {
    value = Object(JSON.parse(data)) as Typed
  } catch {
    throw retrySame(new Error('the vendor sent an event that is not JSON'))
  }
  if (value.error || value.type === 'error') throw failure(value.error ?? value)
  if (typeof value.type !== 'string') throw retrySame(new Error('the vendor sent an event without a type'))
  // Data may stand on several lines: what is passed on stands on one.
  return new Verbatim(value as Typed, Buffer.from(data.includes('\n') ? JSON.stringify(value) : data))
}
