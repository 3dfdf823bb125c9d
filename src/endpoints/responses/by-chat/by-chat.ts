/** Responses by models that only chat. */
import type { Tally } from '../../../billing/receipt.ts'
import type { Call, Provider } from '../../../providers/contract.ts'
import type { ChatRequest, ResponseFormat } from '../../../wire/chat.ts'
import type { ResponseEvent, ResponseRequest, TextFormat } from '../../../wire/responses.ts'
import { askChat } from '../../chat/ask.ts'
import { checkMadeChat } from '../../chat/request.ts'
import type { AnswerVisit } from '../../chunk-answer.ts'
import { chunksOf } from '../../chunk-stream.ts'
import { makerOf } from '../../envelope.ts'
import { replace } from '../../order.ts'
import { blankResponse, type ResponseVisit } from '../blank.ts'
import type { ResponseOrder } from '../request.ts'
import { responseUsage } from '../usage.ts'
import { withOwnNames } from './field-names.ts'
import { messagesOf } from './messages.ts'
import { ToolBook } from './tools.ts'
import { ResponseWriter } from './writer.ts'

/** The events of the response, whether the client wants them or the whole. */
export async function* respondByChat(
  provider: Provider,
  call: Call<ResponseRequest>,
  visit: ResponseVisit,
): AsyncGenerator<ResponseEvent, void, void> {
  const { order } = visit
  const meter = reportingTo(visit.meter)
  const { tools, reasoning } = call.request
  const maker = makerOf(provider)
  const book = new ToolBook(tools ?? [])
  const writer = new ResponseWriter({
    blank: blankResponse(visit),
    book,
    summary: Boolean(reasoning?.summary),
    maker,
    now: order.now,
  })
  const request = chatRequestOf(call, order, book, maker)
  const answer = await asked(provider, call, request, { ...visit, meter })
  if (answer.kind === 'whole') throw new TypeError('an answer that was wanted in chunks came whole')
  yield* writer.begin()
  for await (const chunk of chunksOf(answer.stream, meter)) yield* writer.accept(chunk)
  yield* writer.end(meter.usage === undefined ? null : responseUsage(meter.usage))
}

async function asked(provider: Provider, call: Call<ResponseRequest>, request: ChatRequest, visit: AnswerVisit) {
  try {
    checkMadeChat(request)
    return await askChat(provider, replace(call, request), visit, true)
  } catch (thrown) {
    throw withOwnNames(thrown, call.request)
  }
}

/** What the vendor counts is told at once; what is estimated is estimated by whoever reads the events. */
function reportingTo(meter: Tally): Tally {
  return {
    textBytes: 0,
    get usage() {
      return meter.usage
    },
    set usage(usage) {
      meter.usage = usage
    },
  }
}

/**
 * The request for the chat. What is a matter of the gateway (`store`, `metadata`), of a vendor's own tools or of its
 * caches has no place in it: vendors have been seen to refuse fields they do not know.
 */
function chatRequestOf(
  { request, stream }: Call<ResponseRequest>,
  order: ResponseOrder,
  book: ToolBook,
  maker: string,
): ChatRequest {
  const { tools, choice } = book.choose(request.tool_choice)
  const { text, reasoning } = request
  const logprobs = request.include?.includes('message.output_text.logprobs') === true || Boolean(request.top_logprobs)
  return given({
    model: order.model,
    messages: messagesOf(order.conversation, request.instructions, maker),
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
    // Chats have known `user` for longer, and some vendors refuse its successor.
    user: request['safety_identifier'] ?? request['user'],
    service_tier: usualTiers.includes(request['service_tier']) ? undefined : request['service_tier'],
    ...(tools.length > 0 && { tools, tool_choice: choice, parallel_tool_calls: request.parallel_tool_calls }),
  })
}

/** They ask for nothing, and not every vendor knows them. */
const usualTiers: readonly unknown[] = ['auto', 'default']

function formatOf(format: TextFormat | null | undefined): ResponseFormat | undefined {
  if (format?.type === 'json_object') return { type: 'json_object' }
  if (format?.type !== 'json_schema') return undefined
  const { type, name = 'response', ...rest } = format
  return { type, json_schema: { name, ...rest } }
}

/** Without the fields that were not given. */
function given(fields: Record<string, unknown>): ChatRequest {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(entries) as unknown as ChatRequest
}
