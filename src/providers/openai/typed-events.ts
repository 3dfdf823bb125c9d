/** Reads streams whose events have a `type` field: images and transcriptions. */
import { Verbatim } from '../contract.ts'
import { EventReader } from '../event-reader.ts'
import { unreadable } from '../failure.ts'
import { Framer, jsonIn, type VendorEvent } from '../framing.ts'
import { withoutOwnCosts } from '../own-costs.ts'
import type { StartedResponse } from './vendor.ts'

interface Typed {
  readonly type: string
}

/**
 * Yields the events with their JSON text, up to `[DONE]` or the `count`th event that `isLast` accepts as the end of a response.
 * Throws if the connection ends before the first of these. `maxBytes` limits each event.
 */
export async function* readTyped<Event extends Typed>(
  { transfer, failure, costs }: StartedResponse,
  maxBytes: number,
  isLast: (event: Event) => boolean,
  count: number = 1,
): AsyncGenerator<Verbatim<Event>, void, void> {
  const framer = new Framer(maxBytes)
  const events = new EventReader()
  let ends = 0
  let isOver = false
  const read = function* (event: VendorEvent | undefined): Generator<Verbatim<Event>, void> {
    if (event?.data === '[DONE]') isOver = true
    if (isOver || !event?.data) return
    const typed = parse(event.data, failure, costs) as Verbatim<Event>
    if (isLast(typed.value)) isOver = ++ends >= count
    yield typed
  }
  for await (const bytes of transfer) {
    for (const frame of framer.push(bytes)?.toString('utf8').split('\n\n') ?? []) {
      yield* read(events.read(frame))
      if (isOver) return transfer.settle()
    }
  }
  yield* read(events.last(framer.rest()))
  if (ends === 0 && !isOver) throw unreadable("the vendor's stream ended before the response was complete")
}

function parse(data: string, failure: StartedResponse['failure'], costs: StartedResponse['costs']): Verbatim<Typed> {
  const value = Object(jsonIn(data)) as Partial<Typed> & { error?: unknown }
  if (value.error || value.type === 'error') throw failure(value.error ?? value)
  if (typeof value.type !== 'string') throw unreadable('the vendor sent an event without a type')
  // An event's data may span several lines; the text that is passed on must be one line.
  const shown = withoutOwnCosts(value as Typed, costs)
  return new Verbatim(shown, Buffer.from(shown !== value || data.includes('\n') ? JSON.stringify(shown) : data))
}
