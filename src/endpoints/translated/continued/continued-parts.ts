/** The parts of an answer that goes on at the next deployment if its vendor breaks off, and of one that does not. */
import type { Part } from '../../../conversation/parts.ts'
import type { EventReader } from '../../../formats/format.ts'
import { staged, type Stage } from '../../../formats/stages/stage.ts'
import type { Tally } from '../../../money/tally.ts'
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

export interface ContinuingSteps extends Pick<EventSteps, 'meter' | 'promptTokens'> {
  /** The stream of the next vendor for what is missing. Rejects with the failure if there is none. */
  next(failure: unknown, said: JoinedParts): Promise<Reading>
}

export async function* continuedParts(
  first: Reading,
  { meter, promptTokens, ...steps }: ContinuingSteps,
): AsyncGenerator<readonly Part[], void, void> {
  const said = new JoinedParts(promptTokens)
  const told = (parts: readonly Part[]) => {
    if (said.isContinued) meter.lastUsed = said.ownUsage
    return parts
  }
  for (let reading = first; ;) {
    const failure = yield* map(partsOf(reading, meter), (parts) => told(joined(said, parts)))
    if (failure === undefined) return
    const held: Part[] = []
    said.next(held)
    yield told(held)
    if (said.isOver) return
    if (said.hasCalls) {
      // The client runs the calls, and the model goes on with their results.
      yield [{ kind: 'end', choice: 0, end: { reason: 'calls' } }]
      return
    }
    if (said.isRefusal) throw failure.error
    reading = await steps.next(failure.error, said)
  }
}

/** The parts of an answer that does not go on. */
export async function* partsOnce(reading: Reading, meter: Tally): AsyncGenerator<readonly Part[], void, void> {
  const failure = yield* partsOf(reading, meter)
  if (failure !== undefined) throw failure.error
}

interface Failure {
  readonly error: unknown
}

async function* map<In, Out>(
  source: AsyncGenerator<In, Failure | undefined, void>,
  change: (piece: In) => Out,
): AsyncGenerator<Out, Failure | undefined, void> {
  try {
    for (;;) {
      const { done, value } = await source.next()
      if (done === true) return value
      yield change(value)
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
