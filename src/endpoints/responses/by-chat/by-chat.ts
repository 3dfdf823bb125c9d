/** Responses for providers that only support chat. */
import type { Tally } from '../../../billing/receipt.ts'
import type { Call, Provider } from '../../../providers/contract.ts'
import { forceParse, othersTurn } from '../../../providers/turns.ts'
import type { ChatChunk, ChatRequest, ResponseFormat } from '../../../wire/chat.ts'
import type { ResponseEvent, ResponseRequest, TextFormat } from '../../../wire/responses.ts'
import { askChat } from '../../chat/ask.ts'
import type { FullChunk } from '../../chat/stream-state.ts'
import { checkMadeChat } from '../../chat/request.ts'
import type { AnswerContext } from '../../chunk-answer.ts'
import { chunksOf, type OpenStream } from '../../chunk-stream.ts'
import { makerOf } from '../../envelope.ts'
import { replaceLarge } from '../../order.ts'
import { blankResponse, type ResponseContext } from '../blank.ts'
import type { ResponseOrder } from '../request.ts'
import { responseUsage } from '../usage.ts'
import { withRequestFieldNames } from './field-names.ts'
import { messagesOf } from './messages.ts'
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
    blank: blankResponse(context),
    chatTools,
    summary: Boolean(reasoning?.summary),
    maker,
    now: order.now,
  })
  const request = chatRequestOf(call, order, chatTools, maker, provider.chatTraits?.reasoning === true)
  order.derived.push(request)
  const answer = await callChat(provider, call, request, { ...context, meter })
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

async function callChat(provider: Provider, call: Call<ResponseRequest>, request: ChatRequest, context: AnswerContext) {
  try {
    checkMadeChat(request)
    await othersTurn(call)
    return await askChat(provider, replaceLarge(call, request), context, true)
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

/**
 * The chat request. Omits fields of the gateway (`store`, `metadata`), of vendors' own tools and of their caches,
 * because some vendors reject unknown fields.
 */
function chatRequestOf(
  { request, stream }: Call<ResponseRequest>,
  order: ResponseOrder,
  chatTools: ChatTools,
  maker: string,
  takesReasoning: boolean,
): ChatRequest {
  const { tools, choice } = chatTools.choose(request.tool_choice)
  const { text, reasoning } = request
  const logprobs = request.include?.includes('message.output_text.logprobs') === true || Boolean(request.top_logprobs)
  return withoutUnset({
    model: order.model,
    messages: messagesOf(order.conversation, request.instructions, maker, takesReasoning),
    stream: stream || undefined,
    temperature: request.temperature,
    top_p: request.top_p,
    presence_penalty: request['presence_penalty'],
    frequency_penalty: request['frequency_penalty'],
    max_tokens: request.max_output_tokens,
    response_format: formatOf(text?.format),
    verbosity: text?.verbosity,
    reasoning_effort: reasoning?.effort,
    logprobs: logprobs || undefined,
    top_logprobs: logprobs ? (request.top_logprobs ?? undefined) : undefined,
    // Not `safety_identifier`, its successor, which some vendors reject.
    user: request['safety_identifier'] ?? request['user'],
    service_tier: defaultTiers.includes(request['service_tier']) ? undefined : request['service_tier'],
    ...(tools.length > 0 && { tools, tool_choice: choice, parallel_tool_calls: request.parallel_tool_calls }),
  })
}

/** Values without effect, which some vendors reject. */
const defaultTiers: readonly unknown[] = ['auto', 'default']

function formatOf(format: TextFormat | null | undefined): ResponseFormat | undefined {
  if (format?.type === 'json_object') return { type: 'json_object' }
  if (format?.type !== 'json_schema') return undefined
  const { type, name = 'response', ...rest } = format
  return { type, json_schema: { name, ...rest } }
}

/** Without fields that are undefined or null. */
function withoutUnset(fields: Record<string, unknown>): ChatRequest {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(entries) as unknown as ChatRequest
}
