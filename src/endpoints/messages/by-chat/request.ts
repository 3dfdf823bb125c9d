import type { ChatTraits } from '../../../providers/chat-traits.ts'
import type { ChatMessage, ChatRequest, Tool } from '../../../wire/chat.ts'
import type { Reading } from '../reading/reading.ts'
import { isClosed } from '../reading/closed-schema.ts'
import type { Tools } from '../reading/tools.ts'
import { messagesOf } from './chat-messages.ts'

/** The chat request for the vendor `maker`. `messages`: if they are known already. */
export function chatRequestOf(
  model: string,
  reading: Reading,
  traits: ChatTraits,
  maker: string,
  messages: readonly ChatMessage[] = messagesOf(reading.turns, traits, maker),
): ChatRequest {
  const { stream, settings, tools } = reading
  const { effort, schema, temperature, topP, topK, user } = settings
  const stops = settings.stops.slice(0, traits.maxStops ?? 4)
  // Assigned one by one: an object of many conditional parts takes several times as long.
  const request: { -readonly [Name in keyof ChatRequest]: ChatRequest[Name] } = { model, messages }
  if (stream) request.stream = stream
  if (traits.stores === true) request['store'] = false
  request.max_tokens = settings.maxTokens
  if (temperature !== undefined) request.temperature = temperature
  if (topP !== undefined) request.top_p = topP
  if (topK !== undefined && traits.topK === true) request['top_k'] = topK
  if (stops.length > 0) request.stop = stops
  if (effort !== undefined) request.reasoning_effort = effort
  if (schema !== undefined) {
    const strict = isClosed(schema) && { strict: true }
    request.response_format = { type: 'json_schema', json_schema: { name: 'answer', schema, ...strict } }
  }
  if (tools.tools.length > 0) request.tools = tools.tools.map((tool) => toolOf(tool, traits))
  if (tools.use !== undefined) {
    request.tool_choice = typeof tools.use === 'string' ? tools.use : { type: 'function', function: tools.use }
  }
  if (tools.single) request.parallel_tool_calls = false
  if (user !== undefined) request.user = user
  return request
}

function toolOf({ name, description, schema, cache }: Tools['tools'][number], { cacheControl }: ChatTraits): Tool {
  return {
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters: schema },
    ...(cacheControl === true && cache !== undefined && { cache_control: cache }),
  }
}

/** For a model that cannot be held to a schema: the request with the schema in words. */
export function withSchemaInWords(request: ChatRequest, schema: object | undefined): ChatRequest {
  if (schema === undefined || request.response_format?.type === 'json_schema') return request
  const text = `Answer with one JSON object and nothing else. It must fit this JSON schema:\n${JSON.stringify(schema)}`
  const last = request.messages.at(-1)
  if (last?.role !== 'user') return { ...request, messages: [...request.messages, { role: 'user', content: text }] }
  const { content } = last
  const words = typeof content === 'string' ? `${content}\n\n${text}` : [...(content ?? []), { type: 'text', text }]
  return { ...request, messages: [...request.messages.slice(0, -1), { ...last, content: words }] }
}
