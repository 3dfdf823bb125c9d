/** The events of a client's stream that goes on at the next deployment if its vendor breaks off. */
import type { Part } from '../../../conversation/parts.ts'
import type { EventReader, OutEvent } from '../../../formats/format.ts'
import { staged, type Stage } from '../../../formats/stages/stage.ts'
import type { Tally } from '../../../money/tally.ts'
import { estimateTokens } from '../../../wire/counts.ts'
import { usageOf } from '../../../wire/usage.ts'
import { readVendor } from '../../read-vendor.ts'
import type { EventSteps } from '../client-events.ts'
import { eventsIn } from '../vendor-wires.ts'
import { JoinedParts } from './joined-parts.ts'

/** The stream of one vendor. */
export interface Reading {
  readonly pieces: AsyncIterable<object>
  readonly reader: EventReader
  readonly stages: readonly Stage[]
}

export interface ContinuingSteps extends Pick<EventSteps, 'writer' | 'counter' | 'meter' | 'promptTokens'> {
  /** The stream of the next vendor for what is missing. Rejects with the failure if there is none. */
  next(failure: unknown, said: JoinedParts): Promise<Reading>
}

export async function* continuedEvents<Event>(
  first: Reading,
  steps: ContinuingSteps,
): AsyncGenerator<Event, void, void> {
  const { writer, counter, meter, promptTokens } = steps
  const said = new JoinedParts(promptTokens)
  const written = (parts: readonly Part[]): Event[] => {
    if (said.isContinued) meter.lastUsed = said.ownUsage
    const out: OutEvent[] = []
    for (const part of parts) {
      counter.count(part)
      writer.write(part, out)
    }
    return out as Event[]
  }
  for (let reading = first; ;) {
    const failure = yield* map(partsOf(reading, meter), (parts) => written(joined(said, parts)))
    if (failure === undefined) break
    const held: Part[] = []
    said.next(held)
    yield* written(held)
    if (said.isOver) break
    if (said.hasCalls) {
      // The client runs the calls, and the model goes on with their results.
      yield* written([{ kind: 'end', choice: 0, end: { reason: 'calls' } }])
      break
    }
    if (said.isRefusal) throw failure.error
    reading = await steps.next(failure.error, said)
  }
  if (!counter.hasUsage) {
    yield* written([{ kind: 'usage', usage: usageOf(promptTokens, estimateTokens(meter.textBytes)), counters: {} }])
  }
  const out: OutEvent[] = []
  writer.end(out)
  yield* out as Event[]
  counter.ended()
}

interface Failure {
  readonly error: unknown
}

async function* map<In, Out>(
  source: AsyncGenerator<In, Failure | undefined, void>,
  change: (piece: In) => readonly Out[],
): AsyncGenerator<Out, Failure | undefined, void> {
  try {
    for (;;) {
      const { done, value } = await source.next()
      if (done === true) return value
      yield* change(value)
    }
  } finally {
    await source.return(undefined)
  }
}

function joined(said: JoinedParts, parts: readonly Part[]): readonly Part[] {
  const out: Part[] = []
  for (const part of parts) said.add(part, out)
  return out
}

/** The parts of a stream. Returns why it broke off, after what was read before. */
async function* partsOf(
  { pieces, reader, stages }: Reading,
  meter: Tally,
): AsyncGenerator<readonly Part[], Failure | undefined, void> {
  let parts: Part[] = []
  try {
    for await (const piece of pieces) {
      readVendor(
        () => {
          for (const event of eventsIn(piece)) reader.read(event, parts)
        },
        () => meter.usage,
      )
      const read = parts
      parts = []
      yield staged(read, stages)
    }
    readVendor(
      () => reader.end(parts),
      () => meter.usage,
    )
  } catch (error) {
    if (parts.length > 0) yield staged(parts, stages)
    return { error }
  }
  yield staged(parts, stages)
  return undefined
}
