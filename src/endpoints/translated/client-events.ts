/** The events of a client's stream, made of the pieces of a vendor's stream in another wire format. */
import type { Part } from '../../conversation/parts.ts'
import type { EventReader, EventWriter, OutEvent } from '../../formats/format.ts'
import { staged, type Stage } from '../../formats/stages/stage.ts'
import type { Flow } from '../../http/flow.ts'
import { MappedFlow } from '../../http/mapped-flow.ts'
import type { Tally } from '../../money/tally.ts'
import { estimateTokens } from '../../wire/counts.ts'
import { usageOf } from '../../wire/usage.ts'
import { readVendor } from '../read-vendor.ts'
import type { PartCounter } from './counting.ts'
import { eventsIn } from './vendor-wires.ts'

/** What a stream passes through. */
export interface EventSteps {
  readonly reader: EventReader
  readonly stages: readonly Stage[]
  readonly writer: EventWriter
  readonly counter: PartCounter
  readonly meter: Tally
  readonly promptTokens: number
  /** Called once, with the first content: no attempt can follow. */
  readonly begun: () => void
}

/** The events of pieces that arrived together are delivered together. */
export class ClientEvents<Event> extends MappedFlow<object, Event> {
  readonly #steps: EventSteps
  readonly #parts: Part[] = []
  #begun = false

  constructor(pieces: Flow<object>, steps: EventSteps) {
    super(pieces)
    this.#steps = steps
  }

  protected map(pieces: readonly object[], last: boolean, events: Event[]): void {
    const { reader, meter } = this.#steps
    const out = events as OutEvent[]
    readVendor(
      () => {
        try {
          for (const piece of pieces) for (const event of eventsIn(piece)) reader.read(event, this.#parts)
          if (last) reader.end(this.#parts)
        } finally {
          // What was read before a failure is passed on.
          this.#write(out)
        }
        if (last) this.#end(out)
      },
      () => meter.usage,
    )
  }

  #write(out: OutEvent[]): void {
    const { stages, writer, counter } = this.#steps
    for (const part of this.#parts) {
      counter.count(part)
      if (!this.#begun && part.kind !== 'start' && part.kind !== 'usage') this.#begin()
    }
    const parts = stages.length === 0 ? this.#parts : staged(this.#parts, stages)
    for (const part of parts) writer.write(part, out)
    this.#parts.length = 0
  }

  #end(out: OutEvent[]): void {
    const { writer, counter, meter, promptTokens } = this.#steps
    if (!counter.hasUsage) {
      const usage = usageOf(promptTokens, estimateTokens(meter.textBytes))
      writer.write({ kind: 'usage', usage, counters: {} }, out)
    }
    writer.end(out)
    counter.ended()
  }

  #begin(): void {
    this.#begun = true
    this.#steps.begun()
  }
}
