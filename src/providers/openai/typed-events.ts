/** Reads streams whose events have a `type` field: images and transcriptions. */
import { Verbatim } from '../contract.ts'
import { EventReader } from '../event-reader.ts'
import { unreadable } from '../failure.ts'
import { Framer, jsonIn } from '../framing.ts'
import { withoutOwnCosts } from '../own-costs.ts'
import type { StartedResponse } from './vendor.ts'

interface Typed {
  readonly type: string
}

/**
 * Yields the events with their JSON text. Throws if the stream ends with neither `[DONE]` nor an event that `isLast`
 * accepts as the end of a response. `maxBytes` limits each event.
 */
export async function* readTyped<Event extends Typed>(
  { transfer, failure, costs }: StartedResponse,
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
      const event = parse(data, failure, costs) as Verbatim<Event>
      complete ||= isLast(event.value)
      yield event
    }
    return false
  }
  for await (const bytes of transfer) {
    const frames = framer.push(bytes)
    if (frames !== undefined && (yield* read(frames.toString('utf8').split('\n\n')))) return transfer.settle()
  }
  // Some vendors omit the last blank line.
  if (!complete) yield* read([framer.rest()])
  if (!complete) throw unreadable("the vendor's stream ended before the response was complete")
}

function parse(data: string, failure: StartedResponse['failure'], costs: StartedResponse['costs']): Verbatim<Typed> {
  const value = Object(jsonIn(data)) as Partial<Typed> & { error?: unknown }
  if (value.error || value.type === 'error') throw failure(value.error ?? value)
  if (typeof value.type !== 'string') throw unreadable('the vendor sent an event without a type')
  // An event's data may span several lines; the text that is passed on must be one line.
  const shown = withoutOwnCosts(value as Typed, costs)
  return new Verbatim(shown, Buffer.from(shown !== value || data.includes('\n') ? JSON.stringify(shown) : data))
}
