/** Google's Interactions API. Sources: the Gemini API reference (interactions), and Google's client library. */
import { parseJson } from '../../conversation/json.ts'
import { isMediaType } from '../../http/media-type.ts'
import type { InteractionObject, InteractionRequest } from '../../wire/interactions.ts'
import { readJsonObject, requireSuccess } from '../answer.ts'
import { jsonBody, sentFor } from '../client.ts'
import { readInteractionFault } from '../content/fault.ts'
import type { Call, InteractionAnswer } from '../contract.ts'
import { readValues } from '../events.ts'
import { eventsIn } from './generate.ts'
import type { Vendor } from './vendor.ts'

/** Asks for an answer: whole, or as events. Google keeps nothing of it: the gateway sends the whole conversation each time. */
export async function interact(vendor: Vendor, call: Call<InteractionRequest>): Promise<InteractionAnswer> {
  await call.prepare?.()
  const model = call.model.replace(/^models\//, '')
  const body = call.json({ model, store: false, stream: call.stream ? true : undefined })
  const transfer = await vendor.client.send({ path: '/interactions', body, headers: jsonBody, ...sentFor(call) })
  await requireSuccess(transfer, call, readInteractionFault)
  if (isMediaType(transfer.contentType, 'text/event-stream'))
    return eventsIn<InteractionObject>(readValues(transfer, parseJson))
  return (await readJsonObject(transfer, vendor.client.answerBytes)) as InteractionAnswer
}
