/** Calling a provider in another wire format than the client's: by way of the conversation that both can say. */
import { GatewayError } from '../../errors.ts'
import type { Conversation, FormatName } from '../../conversation/conversation.ts'
import { withHostedTools } from '../../formats/hosted-tools.ts'
import type { Flow } from '../../http/flow.ts'
import { flowOf, flowOfList } from '../../http/flow-of.ts'
import { ignore } from '../../http/ignore.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import { forceParse, yieldIfLarge } from '../../providers/yielding.ts'
import type { Fields } from '../../wire/json.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { afterFirstContent } from '../first-content.ts'
import { replaceLarge } from '../order.ts'
import { readVendor } from '../read-vendor.ts'
import { ClientEvents } from './client-events.ts'
import { PartCounter } from './counting.ts'
import { withoutRefused } from './hints.ts'
import { allowedBy, bodyWithDigits, ownPlan, planFor, type AnswerPlan, type ClientWire, type Plan } from './plan.ts'
import { isPlaced, planOrSkip, withClientField } from './refusals.ts'
import { refuseServers, tellOwnFields } from './unsaid.ts'
import { bodyOf, wireFor, wires, type VendorAnswer, type VendorWire } from './vendor-wires.ts'
import { collected, WholeReader, wholeOf } from './whole-answer.ts'

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
  const wire = wireFor(client.format.name, provider, client.asksOwnName)
  if (wire === undefined) {
    const message = `This model does not support ${endpoints[client.format.name]}.`
    throw new GatewayError('unsupported_value', { param: 'model', message })
  }
  if (call.large === true) await forceParse(call)
  const conversation = client.format.readRequest(bodyWithDigits(call, context.order))
  let plan: Plan
  let answered: Answered
  try {
    plan = planned(client, wire, provider, call, context, conversation, repeated)
    if (call.large === true) await yieldIfLarge(call)
    answered = await asked(client, wire, provider, call, plan.request)
  } catch (thrown) {
    throw isPlaced(thrown) ? thrown : withClientField(thrown, wire, client, call.request as Fields)
  }
  const { answer, sent } = answered
  return clientAnswer(answer, wire, client, plan.answerPlan(sent), call, context, () => release(provider, sent))
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
  const { source, stages, asked } = plan
  const isStream = Symbol.asyncIterator in answer
  if (!call.stream) {
    const read = isStream ? await collected(answer, wire.format.eventReader(source), call, context.meter) : answer
    return { kind: 'whole', body: wholeOf(read, wire, client, plan, context) }
  }
  const whole = isStream ? undefined : readVendor(() => wire.format.readAnswer(bodyOf(answer, wire), source))
  const events = new ClientEvents<Event>(isStream ? flowOf(answer) : flowOfList([]), {
    reader: whole === undefined ? wire.format.eventReader(source) : new WholeReader(whole),
    stages,
    writer: client.format.eventWriter(asked),
    counter: new PartCounter(context.meter, asked.id),
    meter: context.meter,
    promptTokens: context.order.promptTokens,
    begun,
  })
  return { kind: 'stream', events }
}

function planned(
  client: ClientWire,
  wire: VendorWire,
  provider: Provider,
  call: Call<unknown>,
  context: AnswerContext,
  conversation: Conversation,
  repeated: Fields | undefined,
): Plan {
  const meant = withHostedTools(conversation, wire.format.name, allowedBy(context.model))
  const { name } = wire.format
  const omit = (place: string) => context.meter.omit?.(place)
  const plan = (said: Conversation) => {
    refuseServers(said, name, context.order.model)
    return planFor(client, wire, provider, call, context, said, repeated)
  }
  tellOwnFields(meant.turns, name, omit)
  tellOwnFields(meant.tools, name, omit)
  const { hints, format } = client
  if (hints === undefined) return planOrSkip(() => plan(meant))
  return planOrSkip(() => withoutRefused(meant, hints, format.fieldNames, omit, plan))
}

/** What the vendor answered, and to which request: it may have refused an earlier one. */
interface Answered {
  readonly answer: VendorAnswer
  readonly sent: Fields
}

function asked(
  client: ClientWire,
  wire: VendorWire,
  provider: Provider,
  call: Call<unknown>,
  request: Fields,
): Promise<Answered> {
  const send = (sent: Fields) =>
    Promise.resolve(wire.ask(provider, replaceLarge(call, sent) as Call<never>)).then((answer) => begun(answer, sent))
  return client.ask === undefined ? send(request) : client.ask(provider, call, request, wire, send)
}

/** A refusal may be the first that a stream says. */
function begun(answer: VendorAnswer, sent: Fields): Answered | Promise<Answered> {
  if (!(Symbol.asyncIterator in answer)) return { answer, sent }
  return afterFirstContent(answer, always, always).then((flow) => ({ answer: flow, sent }))
}

function always(): boolean {
  return true
}

/**
 * Lets go of what was made of a request: whatever still holds it would keep the conversation in memory for as long as the
 * answer is streamed.
 */
function release({ releasesCalls }: Provider, made: Fields): void {
  if (releasesCalls !== true) return
  for (const name of Object.keys(made)) (made as Record<string, unknown>)[name] = null
}

const endpoints: Readonly<Record<FormatName, string>> = {
  chat: 'chat',
  responses: 'responses',
  messages: 'messages',
  gemini: 'content generation',
}
