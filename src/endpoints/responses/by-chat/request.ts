import type { ChatTraits } from '../../../providers/chat-traits.ts'
import type { Call } from '../../../providers/contract.ts'
import type { ChatRequest, ResponseFormat } from '../../../wire/chat.ts'
import type { ResponseRequest, TextFormat } from '../../../wire/responses.ts'
import type { ResponseOrder } from '../request.ts'
import { messagesOf } from './chat-messages.ts'
import type { ChatTools } from './tools.ts'

/**
 * The chat request. Omits fields of the gateway (`metadata`, `store` but for vendors that keep chats), of vendors' own tools
 * and of their caches, because some vendors reject unknown fields. `maker`: see `messagesOf`.
 */
export function chatRequestOf(
  { request, stream }: Call<ResponseRequest>,
  order: Pick<ResponseOrder, 'model' | 'conversation'>,
  chatTools: ChatTools,
  maker: string,
  traits: ChatTraits = {},
): ChatRequest {
  const { tools, choice } = chatTools.choose(request.tool_choice)
  const { text, reasoning } = request
  const logprobs = request.include?.includes('message.output_text.logprobs') === true || Boolean(request.top_logprobs)
  return withoutUnset({
    model: order.model,
    messages: messagesOf(order.conversation, request.instructions, maker, traits.reasoning === true),
    stream: stream || undefined,
    store: traits.stores === true ? false : undefined,
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
