/** Calling a provider in another wire format than the client's: by way of the conversation that both can say. */
import type { Flow } from '../../http/flow.ts'
import { flowOf, flowOfList } from '../../http/flow-of.ts'
import { ignore } from '../../http/ignore.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { Fields } from '../../wire/json.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { readVendor } from '../read-vendor.ts'
import { askVendor } from './ask-vendor.ts'
import { ClientEvents, type EventSteps } from './client-events.ts'
import { continuedParts, partsOnce } from './continued/continued-parts.ts'
import type { JoinedParts } from './continued/joined-parts.ts'
import { nextReading, readingOf } from './continued/next-reading.ts'
import { PartCounter } from './counting.ts'
import { passedEvents } from './passed-events.ts'
import { ownPlan, type AnswerPlan, type ClientWire } from './plan.ts'
import { bodyOf, wires, type VendorAnswer, type VendorWire } from './vendor-wires.ts'
import { collected, inspectedWhole, WholeReader, wholeOf } from './whole-answer.ts'

/** The answer, in the client's format. */
export type Translated<Event> =
  | { readonly kind: 'whole'; readonly body: Fields }
  | { readonly kind: 'stream'; readonly events: Flow<Event> }

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
  const answered = await askVendor(client, provider, call, context, repeated, itself)
  const { answer, wire, sent, plan } = answered
  const goesOn = successor !== undefined && Symbol.asyncIterator in answer
  if (!call.stream || (!goesOn && inspection?.seesAnswers !== true))
    return clientAnswer(answer, wire, client, plan, call, context, () => release(provider, sent))
  const steps = stepsOf(client, plan, context)
  const first = readingOf(answered)
  const next = (failure: unknown, said: JoinedParts) =>
    nextReading(client, successor as Successor, context, repeated, failure, said)
  const parts = goesOn ? continuedParts(first, { ...steps, next }) : partsOnce(first, steps.meter)
  return { kind: 'stream', events: flowOf(passedEvents<Event>(parts, steps, inspection)) }
}

type Successor = NonNullable<AnswerContext['successor']>

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
  const plan = ownPlan(client, wire, provider, call, context, repeated)
  return clientAnswer(answer, wire, client, plan, call, context, ignore)
}

/** `begun`: called with the first content of a stream. */
async function clientAnswer<Event>(
  answer: VendorAnswer,
  wire: VendorWire,
  client: ClientWire,
  plan: AnswerPlan,
  call: Call<unknown>,
  context: AnswerContext,
  begun: () => void,
): Promise<Translated<Event>> {
  const { source, stages } = plan
  const isStream = Symbol.asyncIterator in answer
  if (!call.stream) {
    const read = isStream ? await collected(answer, wire.format.eventReader(source), call, context.meter) : answer
    const inspects = context.inspection?.seesAnswers === true
    const body = (inspects ? inspectedWhole : wholeOf)(read, wire, client, plan, context)
    return { kind: 'whole', body: body instanceof Promise ? await body : body }
  }
  const whole = isStream ? undefined : readVendor(() => wire.format.readAnswer(bodyOf(answer, wire), source))
  const events = new ClientEvents<Event>(isStream ? flowOf(answer) : flowOfList([]), {
    reader: whole === undefined ? wire.format.eventReader(source) : new WholeReader(whole),
    stages,
    ...stepsOf(client, plan, context),
    begun,
  })
  return { kind: 'stream', events }
}

/**
 * Lets go of what was made of a request: whatever still holds it would keep the conversation in memory for as long as the
 * answer is streamed.
 */
function release({ releasesCalls }: Provider, made: Fields): void {
  if (releasesCalls !== true) return
  for (const name of Object.keys(made)) (made as Record<string, unknown>)[name] = null
}
