/** Asking a vendor in a wire format that it speaks. */
import { refusedValue } from '../../errors.ts'
import type { Conversation, FormatName } from '../../conversation/conversation.ts'
import { withHostedTools } from '../../formats/hosted-tools.ts'
import type { Call } from '../../providers/contract.ts'
import { providerItself } from '../../providers/work.ts'
import { forceParse, yieldIfLarge } from '../../providers/yielding.ts'
import type { Fields } from '../../wire/json.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { afterFirstPiece } from '../first-content.ts'
import { withoutCosts } from '../messages/headers.ts'
import { overlaid, replaceLarge } from '../order.ts'
import { withFallbacks } from './fallbacks.ts'
import { withoutRefused } from './hints.ts'
import { allowedBy, bodyWithDigits, planFor, type AnswerPlan, type Asking, type Plan } from './plan.ts'
import { isPlaced, planOrSkip, withClientField } from './refusals.ts'
import { refuseServers, tellOwnFields, tellUnsaid } from './unsaid.ts'
import { wireFor, type VendorAnswer, type VendorWire } from './vendor-wires.ts'

/** What the vendor is asked beside the conversation of the client. Default: nothing. */
export interface Changes {
  readonly conversation?: (conversation: Conversation) => Conversation
  readonly request?: (request: Fields) => Fields
}

/** What a vendor has answered, and how it is read. */
export interface AnsweredBy {
  readonly answer: VendorAnswer
  readonly wire: VendorWire
  /** The request that was answered: the vendor may have refused an earlier one. */
  readonly sent: Fields
  readonly plan: AnswerPlan
}

/**
 * Asks the provider. `itself`: also in the client's own format, if it speaks it. Throws 400 if it answers no conversations.
 */
export async function askVendor(asking: Asking, itself: boolean, changes: Changes = {}): Promise<AnsweredBy> {
  const { client, provider, call, context } = asking
  const wire = wireFor(client.format.name, providerItself(provider), call.model, itself)
  if (wire === undefined) {
    const message = `This model does not support ${endpoints[client.format.name]}.`
    throw refusedValue(message, 'model')
  }
  if (call.large === true) await forceParse(call)
  const omit = (name: string) => context.meter.omit?.(name)
  const { format, covered } = client
  if (covered !== undefined && wire.format.name !== format.name)
    tellUnsaid(call.request as Fields, covered, format.name === 'chat' ? wire.format.chatFields : undefined, omit)
  const read = streamedAs(call, format.readRequest(bodyWithDigits(call, context.order)))
  const wanted = changes.conversation === undefined ? read : changes.conversation(read)
  const conversation = context.inspection === undefined ? wanted : await context.inspection.asked(wanted)
  try {
    const meant = withHostedTools(conversation, wire.format.name, allowedBy(context.model))
    tellOwnFields(meant.turns, wire.format.name, omit)
    tellOwnFields(meant.tools, wire.format.name, omit)
    const plan = (said: Conversation) => planned(asking, wire, said, meant)
    const send = (made: Plan) => asked(asking, wire, made, changes)
    if (client.asksAgain !== true) return await send(plan(meant))
    return await withFallbacks({ provider, call, names: wire.format.fieldNames }, meant, plan, send)
  } catch (thrown) {
    throw isPlaced(thrown) ? thrown : withClientField(thrown, wire, client, call.request as Fields)
  }
}

/** In some wire formats the address of a request says whether the client streams. */
function streamedAs({ stream }: Call<unknown>, conversation: Conversation): Conversation {
  const { settings } = conversation
  return (settings.stream ?? false) === stream ? conversation : { ...conversation, settings: { ...settings, stream } }
}

function planned(asking: Asking, wire: VendorWire, conversation: Conversation, meant: Conversation): Plan {
  const { hints, format } = asking.client
  const { meter, order } = asking.context
  const plan = (said: Conversation) => {
    refuseServers(said, wire.format.name, order.model)
    const { reasoning } = said.settings
    // For a model without reasoning it is as if the client had asked for none.
    if (reasoning === conversation.settings.reasoning) return planFor(asking, wire, said, meant)
    return planFor(asking, wire, said, { ...meant, settings: { ...meant.settings, reasoning } })
  }
  if (hints === undefined) return planOrSkip(() => plan(conversation))
  const omit = (place: string) => meter.omit?.(place)
  return planOrSkip(() => withoutRefused(conversation, hints, format.fieldNames, omit, plan))
}

/** A refusal may be the first that a stream says. */
async function asked(
  { client, provider, call, context }: Asking,
  wire: VendorWire,
  { request, answerPlan }: Plan,
  changes: Changes,
): Promise<AnsweredBy> {
  if (call.large === true) await yieldIfLarge(call)
  const sent = changes.request === undefined ? request : changes.request(request)
  const made = replaceLarge(call, sent)
  const own = wire.format === client.format ? withHeadersOf(call, made, context) : made
  const given = await wire.ask(provider, own as Call<never>)
  const answer = Symbol.asyncIterator in given ? await afterFirstPiece(given) : given
  return { answer, wire, sent, plan: answerPlan(sent) }
}

/** For a vendor with the client's own format. */
function withHeadersOf(
  { clientHeaders }: Call<unknown>,
  call: Call<unknown>,
  { model, meter }: AnswerContext,
): Call<unknown> {
  if (clientHeaders === undefined || model === undefined) return call
  return overlaid(call, { clientHeaders: withoutCosts(clientHeaders, model, (name) => meter.omit?.(name)) })
}

const endpoints: Readonly<Record<FormatName, string>> = {
  chat: 'chat',
  responses: 'responses',
  messages: 'messages',
  gemini: 'content generation',
}
