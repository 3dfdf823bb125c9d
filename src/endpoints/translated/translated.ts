/** Calling a provider in another wire format than the client's: by way of the conversation that both can say. */
import { choicesIn } from '../../admission/output-length.ts'
import { flowOf } from '../../http/flow-of.ts'
import { ignore } from '../../http/ignore.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { Fields } from '../../wire/json.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import type { Open } from '../open.ts'
import { askVendor, type AnsweredBy } from './ask-vendor.ts'
import { ClientEvents, type EventSteps } from './client-events.ts'
import { continuedParts, partsOnce } from './continued/continued-parts.ts'
import { nextReadings, readingOf } from './continued/next-reading.ts'
import { PartCounter } from './counting.ts'
import { passedEvents } from './passed-events.ts'
import { ownPlan, type AnswerPlan, type ClientWire } from './plan.ts'
import { wires, type VendorAnswer } from './vendor-wires.ts'
import { collected, readWhole, writeWhole } from './whole-answer.ts'

/** The answer, in the client's format. */
export type Translated<Event> = Open<Fields, Event>

/**
 * Calls the provider in the best wire format that it speaks, and tells `context.meter` what was used. `repeated`: the fields
 * of the request that the answer repeats. Throws 400 if the provider speaks none.
 */
export async function translated<Event>(
  client: ClientWire,
  provider: Provider,
  call: Call<unknown>,
  context: AnswerContext,
  repeated?: Fields,
): Promise<Translated<Event>> {
  const { successor, inspection } = context
  const itself = client.asksOwnName === true || successor !== undefined || inspection !== undefined
  const answered = await askVendor({ client, provider, call, context, repeated }, itself)
  const isStream = Symbol.asyncIterator in answered.answer
  // Of several choices, some may have ended where others break off.
  const mayGoOn = isStream && choicesIn(context.order.field) === 1
  const next = mayGoOn && successor !== undefined ? nextReadings(client, successor, context, repeated) : undefined
  if (!call.stream || (next === undefined && inspection?.seesAnswers !== true))
    return clientAnswer(answered, client, call, context, releasing(provider, answered.sent))
  const steps = stepsOf(client, answered.plan, context)
  const first = readingOf(answered)
  const parts = next === undefined ? partsOnce(first, steps.meter) : continuedParts(first, { ...steps, next })
  return { kind: 'stream', pieces: flowOf(passedEvents<Event>(parts, steps, inspection)) }
}

/** What every stream to the client passes through. */
function stepsOf(
  client: ClientWire,
  { asked }: AnswerPlan,
  { meter, order }: AnswerContext,
): Pick<EventSteps, 'writer' | 'counter' | 'meter' | 'promptTokens'> {
  return {
    writer: client.format.eventWriter(asked),
    counter: new PartCounter(meter, asked.id),
    meter,
    promptTokens: order.promptTokens,
  }
}

/**
 * What a provider has answered in the client's own format: whole although the client streams, or as a stream although it
 * does not.
 */
export function inOtherMode<Event>(
  client: ClientWire,
  answer: VendorAnswer,
  provider: Provider,
  call: Call<unknown>,
  context: AnswerContext,
  repeated?: Fields,
): Promise<Translated<Event>> {
  const wire = wires[client.format.name]
  const plan = ownPlan({ client, provider, call, context, repeated }, wire)
  return clientAnswer({ answer, wire, plan }, client, call, context, ignore)
}

/** `begun`: called with the first content of a stream. */
async function clientAnswer<Event>(
  answered: Pick<AnsweredBy, 'answer' | 'wire' | 'plan'>,
  client: ClientWire,
  call: Call<unknown>,
  context: AnswerContext,
  begun: () => void,
): Promise<Translated<Event>> {
  const { answer, wire, plan } = answered
  if (call.stream) {
    const { pieces, ...reading } = readingOf(answered)
    const steps = { ...reading, ...stepsOf(client, plan, context), begun }
    return { kind: 'stream', pieces: new ClientEvents<Event>(flowOf(pieces), steps) }
  }
  const { meter, inspection } = context
  const isStream = Symbol.asyncIterator in answer
  const read = isStream ? await collected(answer, wire.format.eventReader(plan.source), call, meter) : answer
  const whole = readWhole(read, wire, plan, meter)
  const passed = inspection?.seesAnswers === true ? await inspection.answered(whole.answer) : whole.answer
  return { kind: 'whole', body: writeWhole({ ...whole, answer: passed }, client, context) }
}

/**
 * Lets go of what was made of a request: whatever still holds it would keep the conversation in memory for as long as the
 * answer is streamed.
 */
function releasing({ releasesCalls }: Provider, made: Fields): () => void {
  if (releasesCalls !== true) return ignore
  return () => {
    for (const name of Object.keys(made)) (made as Record<string, unknown>)[name] = null
  }
}
