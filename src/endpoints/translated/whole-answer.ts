/** Whole answers of vendors, for clients that stream and for those that do not. */
import { fold } from '../../conversation/fold.ts'
import { partsOf } from '../../conversation/unfold.ts'
import type { Answer, Part } from '../../conversation/parts.ts'
import type { Asked, EventReader } from '../../formats/format.ts'
import { staged, type Stage } from '../../formats/stages/stage.ts'
import { cancellationOf } from '../../http/cancellation.ts'
import type { Tally } from '../../money/tally.ts'
import type { Call } from '../../providers/contract.ts'
import { billed, unreadable } from '../../providers/failure.ts'
import { estimateTokens } from '../../wire/counts.ts'
import type { Fields } from '../../wire/json.ts'
import { usageOf, type Usage } from '../../wire/usage.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { untilAborted } from '../chunk-stream.ts'
import { readVendor } from '../read-vendor.ts'
import { PartCounter } from './counting.ts'
import { namedBy, type AnswerPlan, type ClientWire } from './plan.ts'
import { bodyOf, eventsIn, type VendorAnswer, type VendorWire } from './vendor-wires.ts'

/** A whole answer of a vendor, counted. */
export interface WholeAnswer {
  readonly answer: Answer
  readonly asked: Asked
  readonly counter: PartCounter
}

/** `answer`: as the vendor gave it, or the parts of its stream. */
export function readWhole(
  answer: object | readonly Part[],
  wire: VendorWire,
  plan: AnswerPlan,
  meter: Tally,
): WholeAnswer {
  return readVendor(
    () => {
      const isParts = Array.isArray(answer)
      const read = isParts ? fold(answer as readonly Part[]) : wire.format.readAnswer(bodyOf(answer, wire), plan.source)
      const asked = namedBy(read, plan)
      const counter = new PartCounter(meter, asked.id)
      counter.countAnswer(read)
      return { answer: changedBy(plan.stages, read), asked, counter }
    },
    () => meter.usage,
  )
}

/** The whole answer in the client's format. */
export function writeWhole(
  { answer, asked, counter }: WholeAnswer,
  { format }: ClientWire,
  { meter, order }: AnswerContext,
): Fields {
  const usage = answer.usage ?? usageOf(order.promptTokens, estimateTokens(meter.textBytes))
  const body = readVendor(
    () => format.writeAnswer({ ...answer, usage }, asked),
    () => meter.usage,
  )
  counter.ended()
  return body
}

/** The parts of a stream, for a client that does not stream. Throws once `call` is cancelled. */
export async function collected(
  answer: VendorAnswer,
  reader: EventReader,
  call: Call<unknown>,
  meter: Tally,
): Promise<Part[]> {
  const parts: Part[] = []
  let usage: Usage | undefined
  const read = (take: () => void) => {
    const before = parts.length
    try {
      readVendor(take, () => usageAfter(parts, before) ?? usage)
    } finally {
      usage = usageAfter(parts, before) ?? usage
      // It is charged, also if the stream fails.
      meter.usage = usage ?? meter.usage
    }
  }
  for await (const piece of untilAborted(answer as AsyncIterable<object>, cancellationOf(call)))
    read(() => {
      for (const event of eventsIn(piece)) reader.read(event, parts)
    })
  if (parts.every(({ kind }) => kind === 'start' || kind === 'usage'))
    throw billed(unreadable('the vendor ended the response before any content'), usage)
  read(() => reader.end(parts))
  return parts
}

/** The last usage among the parts from `begin` on. */
function usageAfter(parts: readonly Part[], begin: number): Usage | undefined {
  for (let at = parts.length - 1; at >= begin; at--) {
    const part = parts[at] as Part
    if (part.kind === 'usage') return part.usage
  }
  return undefined
}

/** Stages see parts, so only an answer that has what they change is taken apart. */
function changedBy(stages: readonly Stage[], answer: Answer): Answer {
  const needed = stages.filter(({ of }) => answer.choices.some(({ blocks }) => blocks.some(({ kind }) => kind === of)))
  return needed.length === 0 ? answer : fold(staged(partsOf(answer), needed))
}

/** Reads an answer that has arrived as a whole, for a client that streams. */
export class WholeReader implements EventReader {
  readonly done = true
  readonly #answer: Answer

  constructor(answer: Answer) {
    this.#answer = answer
  }

  read(): void {}

  end(out: Part[]): void {
    for (const part of partsOf(this.#answer)) out.push(part)
  }
}
