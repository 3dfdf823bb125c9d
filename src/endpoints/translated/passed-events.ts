/** The events of a client's stream, of parts that are not all there at once: they wait for other vendors, and for inspectors. */
import type { Part } from '../../conversation/parts.ts'
import type { OutEvent } from '../../formats/format.ts'
import type { Inspection } from '../../inspect/inspection.ts'
import { inspected } from '../../inspect/inspected.ts'
import { estimateTokens } from '../../wire/counts.ts'
import { usageOf } from '../../wire/usage.ts'
import type { EventSteps } from './client-events.ts'

/** What was generated is counted, also what does not pass. */
export async function* passedEvents<Event>(
  parts: AsyncGenerator<readonly Part[], void, void>,
  { writer, counter, meter, promptTokens }: Pick<EventSteps, 'writer' | 'counter' | 'meter' | 'promptTokens'>,
  inspection: Inspection | undefined,
): AsyncGenerator<Event, void, void> {
  const stages = inspection?.stages() ?? []
  const counted = countedBy((part) => counter.count(part), parts)
  const out: OutEvent[] = []
  for await (const passed of stages.length === 0 ? counted : inspected(counted, stages)) {
    for (const part of passed) writer.write(part, out)
    yield* out.splice(0) as Event[]
  }
  const { usage: reported } = meter
  const said = estimateTokens(meter.textBytes)
  // Some vendors count at the beginning, too, and a cut answer has no end.
  const isCut = stages.some(({ isOver }) => isOver) && reported !== undefined && reported.completion_tokens < said
  if (isCut || !counter.hasUsage) {
    const usage = { ...(isCut && reported), ...usageOf(isCut ? reported.prompt_tokens : promptTokens, said) }
    const part: Part = { kind: 'usage', usage, counters: {} }
    counter.count(part)
    writer.write(part, out)
  }
  writer.end(out)
  yield* out as Event[]
  counter.ended()
}

async function* countedBy(
  count: (part: Part) => void,
  parts: AsyncGenerator<readonly Part[], void, void>,
): AsyncGenerator<readonly Part[], void, void> {
  for await (const list of parts) {
    for (const part of list) count(part)
    yield list
  }
}
