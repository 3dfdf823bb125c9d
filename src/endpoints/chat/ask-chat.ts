/** A chat that an endpoint of the host has with the model of its request, over any vendor. */
import type { Tally } from '../../money/tally.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import { billed } from '../../providers/failure.ts'
import { sumOfUsages } from '../../wire/counts.ts'
import type { ChatCompletion, ChatRequest } from '../../wire/chat.ts'
import type { Context } from '../endpoint.ts'
import { wholeOf } from '../open.ts'
import { madeOrder, overlaid, replace } from '../order.ts'
import { callChat } from './call-chat.ts'
import { checkMadeChat } from './request.ts'

/**
 * Asks the model of the request for a chat completion, whatever wire format its vendor has, and adds what it used to what the
 * request is charged. May be called several times within one `ask`, also at once. Rejects as the provider does: pass the error on,
 * so that the gateway can try the next deployment.
 *
 * `call` and `context`: those of `ask`. `chat`: the fields of a chat request, without `model` and `stream`.
 */
export async function askChat<Request>(
  provider: Provider,
  call: Call<Request>,
  { meter, ...context }: Context<Request>,
  chat: Partial<ChatRequest> & Pick<ChatRequest, 'messages'>,
): Promise<ChatCompletion> {
  const request: ChatRequest = { ...chat, model: call.publicModel, stream: false }
  checkMadeChat(request)
  const asked = overlaid(replace(call, request), { stream: false, prepare: undefined })
  const order = madeOrder(request)
  const tally: Tally = { usage: undefined, textBytes: 0, watch: meter.watch, omit: (name: string) => meter.omit(name) }
  try {
    const { body } = wholeOf(await callChat(provider, asked, { ...context, order, meter: tally }))
    const { usage, textBytes, serviceTier } = tally
    meter.textBytes += textBytes
    meter.usage = sumOfUsages([meter.usage, usage].filter((each) => each !== undefined))
    meter.serviceTier = serviceTier ?? meter.serviceTier
    return body
  } catch (error) {
    throw meter.usage === undefined ? error : billed(error, meter.usage)
  }
}
