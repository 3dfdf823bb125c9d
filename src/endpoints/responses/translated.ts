/** Responses of vendors that do not speak this format. */
import { GatewayError } from '../../errors.ts'
import { saidFields } from '../../formats/responses/field-names.ts'
import { responses } from '../../formats/responses/responses.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { ResponseEvent, ResponseObject, ResponseRequest } from '../../wire/responses.ts'
import { amend } from '../order.ts'
import { withParam } from '../param-name.ts'
import type { ClientWire } from '../translated/plan.ts'
import { streamOf } from '../open.ts'
import { inOtherMode, translated } from '../translated/translated.ts'
import { withoutText } from '../translated/without-text.ts'
import { emptyResponse, type ResponseContext } from './empty-response.ts'
import type { ResponseOrder } from './request.ts'

export const client: ClientWire = {
  format: responses,
  idPrefix: 'resp_',
  covered: new Set([
    ...saidFields,
    'store',
    'previous_response_id',
    'background',
    'conversation',
    'stream_options',
    'prompt_cache_key',
  ]),
}

/** Calls the provider in a format that it speaks, with the whole conversation. */
export async function translatedResponse(
  provider: Provider,
  call: Call<ResponseRequest>,
  context: ResponseContext,
): Promise<AsyncIterable<ResponseEvent> | ResponseObject> {
  const { order, meter } = context
  const tally = withoutText(meter, undefined)
  try {
    const whole = withConversation(call, order)
    const answer = await translated<ResponseEvent>(
      client,
      provider,
      whole,
      { ...context, meter: tally, successor: successorOf(context) },
      emptyResponse(context),
    )
    if (answer.kind === 'stream') return answer.pieces
    meter.textBytes = tally.textBytes
    return answer.body as unknown as ResponseObject
  } catch (thrown) {
    throw withPlace(thrown, order)
  }
}

/** The events of a whole response, for a client that streams. */
export async function eventsOf(
  response: ResponseObject,
  provider: Provider,
  call: Call<ResponseRequest>,
  context: ResponseContext,
): Promise<AsyncIterable<ResponseEvent>> {
  const counted = { ...context, meter: withoutText(context.meter, undefined) }
  const repeated = emptyResponse(context)
  return streamOf(await inOtherMode<ResponseEvent>(client, response, provider, call, counted, repeated)).pieces
}

function successorOf({ order, successor }: ResponseContext): ResponseContext['successor'] {
  return (
    successor &&
    ((failure, used) => {
      const next = successor(failure, used)
      return next && { ...next, call: withConversation(next.call as Call<ResponseRequest>, order) }
    })
  )
}

/** The call with all items of the conversation as its input. */
export function withConversation(
  call: Call<ResponseRequest>,
  { conversation, derived }: ResponseOrder,
): Call<ResponseRequest> {
  if (conversation.asSent) return call
  const changes: Record<string, unknown> = { input: conversation.items }
  derived.push(changes)
  return amend(call, changes)
}

/** An error with the place of an item in the client's input. For a stored item, an index would mean nothing to the client. */
export function withPlace(thrown: unknown, { conversation: { earlier }, field }: ResponseOrder): unknown {
  if (earlier === 0 || !(thrown instanceof GatewayError) || thrown.param === null) return thrown
  const [whole, index] = /^input\[(\d+)\]/.exec(thrown.param) ?? []
  if (whole === undefined) return thrown
  const own = Number(index) - earlier
  return withParam(
    thrown,
    own < 0
      ? field('previous_response_id')
        ? 'previous_response_id'
        : 'conversation'
      : `input[${own}]${thrown.param.slice(whole.length)}`,
  )
}
