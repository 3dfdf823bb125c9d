/** Responses for providers that only support chat. */
import type { Tally } from '../../../money/tally.ts'
import type { Call, Provider } from '../../../providers/contract.ts'
import { forceParse, yieldIfLarge } from '../../../providers/yielding.ts'
import type { ChatChunk, ChatRequest } from '../../../wire/chat.ts'
import type { ResponseEvent, ResponseRequest } from '../../../wire/responses.ts'
import { callChat } from '../../chat/call-chat.ts'
import type { FullChunk } from '../../chat/stream-state.ts'
import { checkMadeChat } from '../../chat/request.ts'
import type { AnswerContext } from '../../chunk-answer.ts'
import { chunksOf, type OpenStream } from '../../chunk-stream.ts'
import { makerOf } from '../../envelope.ts'
import { replaceLarge } from '../../order.ts'
import { emptyResponse, type ResponseContext } from '../empty-response.ts'
import { responseUsage } from '../../../wire/response-usage.ts'
import { withRequestFieldNames } from './field-names.ts'
import { chatRequestOf } from './request.ts'
import { ChatTools } from './tools.ts'
import { ResponseWriter } from './writer.ts'

/** Calls the provider's chat. Resolves with the events of the response, also for a client that does not stream. */
export async function respondByChat(
  provider: Provider,
  call: Call<ResponseRequest>,
  context: ResponseContext,
): Promise<AsyncGenerator<ResponseEvent, void, void>> {
  const { order } = context
  await forceParse(call)
  const meter = reportingTo(context.meter)
  const { tools, reasoning } = call.request
  const maker = makerOf(provider)
  const chatTools = new ChatTools(tools ?? [])
  const writer = new ResponseWriter({
    empty: emptyResponse(context),
    chatTools,
    summary: Boolean(reasoning?.summary),
    maker,
    now: order.now,
  })
  const request = chatRequestOf(call, order, chatTools, maker, provider.chatTraits)
  order.derived.push(request)
  const answer = await callMadeChat(provider, call, request, { ...context, meter })
  if (answer.kind === 'whole') throw new TypeError('the chat was requested in chunks but returned none')
  return eventsOf(answer.stream, writer, meter)
}

/** Holds nothing of the request while the response is streamed. */
async function* eventsOf(
  stream: OpenStream<ChatChunk, FullChunk>,
  writer: ResponseWriter,
  meter: Tally,
): AsyncGenerator<ResponseEvent, void, void> {
  yield* writer.begin()
  for await (const chunk of chunksOf(stream, meter)) yield* writer.accept(chunk)
  yield* writer.end(
    meter.usage === undefined ? null : responseUsage(meter.usage),
    meter.usage?.service_tier ?? meter.serviceTier,
  )
}

async function callMadeChat(
  provider: Provider,
  call: Call<ResponseRequest>,
  request: ChatRequest,
  context: AnswerContext,
) {
  try {
    checkMadeChat(request)
    await yieldIfLarge(call)
    return await callChat(provider, replaceLarge(call, request), context, true)
  } catch (thrown) {
    throw withRequestFieldNames(thrown, call.request)
  }
}

/** A tally that passes on the vendor's usage only: the reader of the events counts the text for the estimate. */
function reportingTo(meter: Tally): Tally {
  return {
    textBytes: 0,
    get usage() {
      return meter.usage
    },
    set usage(usage) {
      meter.usage = usage
    },
    get serviceTier() {
      return meter.serviceTier
    },
    set serviceTier(tier) {
      meter.serviceTier = tier
    },
  }
}
