/** Responses by models that only chat. */
import type { Tally } from '../../../billing/receipt.ts'
import type { Call, Provider } from '../../../providers/contract.ts'
import type { ChatRequest, ResponseFormat } from '../../../wire/chat.ts'
import type { ResponseEvent, ResponseRequest, TextFormat } from '../../../wire/responses.ts'
import { askChat } from '../../chat/ask.ts'
import { chunksOf } from '../../chunk-stream.ts'
import { replace } from '../../order.ts'
import { blankResponse, type ResponseVisit } from '../blank.ts'
import type { ResponseOrder } from '../request.ts'
import { responseUsage } from '../usage.ts'
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
  const { tools, reasoning, include } = call.request
  const book = new ToolBook(tools ?? [])
  const writer = new ResponseWriter({
    blank: blankResponse(visit),
    book,
    summary: Boolean(reasoning?.summary),
    carry: order.shelf !== undefined || include?.includes('reasoning.encrypted_content') === true,
    now: order.now,
  })
  const chat = replace(call, chatRequestOf(call, order, book))
  const answer = await askChat(provider, chat, { ...visit, meter }, true)
  if (answer.kind === 'whole') throw new TypeError('an answer that was wanted in chunks came whole')
  yield* writer.begin()
  for await (const chunk of chunksOf(answer.stream, meter)) yield* writer.accept(chunk)
  yield* writer.end(meter.usage === undefined ? null : responseUsage(meter.usage))
}

/** What the vendor counts is told at once; what is estimated is estimated by whoever reads the events. */
function reportingTo(meter: Tally): Tally {
  return {
    estimatedCompletionTokens: 0,
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
function chatRequestOf({ request, stream }: Call<ResponseRequest>, order: ResponseOrder, book: ToolBook): ChatRequest {
  const { tools, choice } = book.choose(request.tool_choice)
  const { text, reasoning } = request
  const logprobs = request.include?.includes('message.output_text.logprobs') === true || Boolean(request.top_logprobs)
  return given({
    model: order.model,
    messages: messagesOf(order.conversation, request.instructions),
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
    user: request['user'],
    ...(tools.length > 0 && { tools, tool_choice: choice, parallel_tool_calls: request.parallel_tool_calls }),
  })
}

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
