/** Counting the tokens of a request by a vendor of another wire format. */
import { ignore } from '../../http/ignore.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import { forceParse } from '../../providers/yielding.ts'
import type { Fields } from '../../wire/json.ts'
import type { Conversation } from '../../conversation/conversation.ts'
import { givenName } from '../../formats/field-names.ts'
import type { ConversationField } from '../../formats/format.ts'
import { replaceLarge } from '../order.ts'
import type { ClientWire } from './plan.ts'
import { withClientField } from './refusals.ts'
import { withFallbacks } from './fallbacks.ts'
import { withoutRefused, type Hints } from './hints.ts'
import { countingWireFor } from './vendor-wires.ts'

const none: Hints = new Set()

/** Undefined if the provider counts in no other format. */
export async function countTranslated(
  client: ClientWire,
  provider: Provider,
  call: Call<unknown>,
): Promise<number | undefined> {
  const wire = countingWireFor(client.format.name, provider, call.model)
  const count = wire?.counter(provider, call.model)
  if (wire === undefined || count === undefined) return undefined
  await forceParse(call)
  const conversation = client.format.readRequest(call.request as Fields)
  const target = {
    model: call.publicModel,
    maker: wire.maker(provider, call),
    traits: wire.traits(provider, call),
    nameOf: (field: ConversationField) => givenName(field, client.format.fieldNames, call.request as Fields) ?? field,
    omit: ignore,
  }
  const plan = (meant: Conversation) =>
    withoutRefused(meant, client.hints ?? none, client.format.fieldNames, ignore, (said) =>
      wire.format.writeRequest(wire.format.prepare?.(said, target).conversation ?? said, target),
    )
  const send = async (request: Fields) => count(replaceLarge(call, request) as Call<never>)
  try {
    if (client.asksAgain !== true) return await send(plan(conversation))
    return await withFallbacks({ provider, call, names: wire.format.fieldNames }, conversation, plan, send)
  } catch (thrown) {
    throw withClientField(thrown, wire, client, call.request as Fields)
  }
}
