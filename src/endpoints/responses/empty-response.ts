import type { ResponseObject, ResponseRequest, ResponseTool } from '../../wire/responses.ts'
import type { Context } from '../endpoint.ts'
import { conversationIn, type ResponseOrder } from './request.ts'

/** The context of a request to the responses endpoint. */
export type ResponseContext = Context<ResponseRequest, ResponseOrder>

/**
 * A response without output: every field that clients require, from the request or with its default. Sources of the
 * list: OpenAI's Response, and the stricter Open Responses.
 */
export function emptyResponse({
  id,
  order,
  startedAt,
}: Pick<ResponseContext, 'id' | 'order' | 'startedAt'>): ResponseObject {
  const given = (name: string, otherwise: unknown): unknown => order.field(name) ?? otherwise
  const text = order.field('text') as ResponseRequest['text']
  const reasoning = order.field('reasoning') as ResponseRequest['reasoning']
  const user = order.field('user')
  const conversation = conversationIn(order.field)
  return {
    id: id.replace('req_', 'resp_'),
    object: 'response',
    created_at: Math.floor(startedAt / 1000),
    completed_at: null,
    status: 'in_progress',
    background: order.isBackground === true,
    error: null,
    incomplete_details: null,
    instructions: given('instructions', null),
    max_output_tokens: given('max_output_tokens', null),
    max_tool_calls: given('max_tool_calls', null),
    model: order.model,
    output: [],
    parallel_tool_calls: given('parallel_tool_calls', true),
    presence_penalty: given('presence_penalty', 0),
    frequency_penalty: given('frequency_penalty', 0),
    previous_response_id: given('previous_response_id', null) as string | null,
    prompt_cache_key: given('prompt_cache_key', null),
    reasoning: { effort: null, summary: null, ...reasoning },
    safety_identifier: given('safety_identifier', null),
    service_tier: given('service_tier', 'default'),
    store: order.isStored,
    temperature: given('temperature', 1),
    text: { ...text, format: text?.format ?? { type: 'text' }, verbosity: text?.verbosity ?? 'medium' },
    tool_choice: given('tool_choice', 'auto'),
    tools: ((order.field('tools') ?? []) as readonly ResponseTool[]).map(toolOf),
    top_logprobs: given('top_logprobs', 0),
    top_p: given('top_p', 1),
    truncation: given('truncation', 'disabled'),
    usage: null,
    metadata: given('metadata', {}),
    ...(typeof user === 'string' && { user }),
    ...(conversation !== undefined && { conversation: { id: conversation } }),
  }
}

function toolOf(tool: ResponseTool): ResponseTool {
  return tool.type === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool
}
