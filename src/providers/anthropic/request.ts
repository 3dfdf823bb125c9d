/** A chat request → the body of `POST /v1/messages`. Source: Anthropic's API reference, version 2023-06-01. */
import type { Call } from '../contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { readTurns } from '../reading/messages.ts'
import { isRecord } from '../reading/parts.ts'
import { jsonTurn, readEffort, readFormat, readLimit, readStops } from '../reading/settings.ts'
import { isForced, readTools } from '../reading/tools.ts'
import { refuseFields, unsupportedValue } from '../unsupported.ts'
import { conversationOf, type Message } from './messages.ts'
import { traitsOf, type ClaudeTraits } from './models.ts'
import { samplingFor, type SamplingManner } from './sampling.ts'
import { strictSchema } from './schema.ts'
import { thinkingFor, type ThinkingOrder } from './thinking.ts'
import { toolFields, withAnswerTool } from './tools.ts'

export interface RequestOptions {
  /** What a model is like, by the vendor's name for it, where the built-in table is wrong or knows nothing. */
  readonly traits?: Readonly<Record<string, Partial<ClaudeTraits>>>
  /**
   * What becomes of `temperature` and `top_p` that the model does not take. `fit`: a temperature above 1 becomes 1, and
   * what the model has no use for is left out. `refuse`: 400. Default `fit`.
   */
  readonly sampling?: SamplingManner
  /** Fields the vendor has no counterpart for that are left out instead of refused, such as `['seed']`. */
  readonly ignore?: readonly string[]
}

export type ChatCall = Pick<Call<ChatRequest>, 'request' | 'model' | 'publicModel' | 'maxOutputTokens' | 'stream'>

export interface MessagesRequest {
  readonly body: Readonly<Record<string, unknown>>
  /** The tool whose input is the answer itself, where there is one. */
  readonly answerTool: string | undefined
}

const unknownToVendor = [
  'n',
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'modalities',
  'audio',
  'verbosity',
  'web_search_options',
  'moderation',
  'functions',
  'function_call',
]

export function requestFor(call: ChatCall, options: RequestOptions): MessagesRequest {
  const { request, model } = call
  refuseFields(call, unknownToVendor, options.ignore)
  const traits = { ...traitsOf(model), ...options.traits?.[model] }
  const maxTokens = readLimit(request) ?? call.maxOutputTokens ?? traits.maxTokens
  const format = readFormat(call)
  const plan = readTools(call)
  const forced = isForced(plan)
  if (forced && !traits.forcedTools) throw unsupportedValue(call, 'tool_choice', 'it must be "auto" or "none".')

  const turns = readTurns(request.messages)
  if (format.kind === 'json') turns.push(jsonTurn)
  const conversation = conversationOf(turns, call)
  const { thinking, effort } = mindFor(call, traits, maxTokens, conversation.messages, forced)
  const thinks = thinking !== undefined && thinking['type'] !== 'disabled'

  const held = format.kind === 'schema' && traits.schemas
  const standIn =
    format.kind === 'schema' && !held ? withAnswerTool(plan, format, traits, traits.forcedTools && !thinks) : undefined
  const { tools, tool_choice: choice } = standIn ?? toolFields(plan, turns, traits)
  const outputConfig = {
    ...(effort !== undefined && { effort }),
    ...(held && { format: { type: 'json_schema', schema: strictSchema(format.schema) } }),
  }
  const user = request['safety_identifier'] ?? request['user']
  const stops = stopsOf(call)
  return {
    answerTool: standIn?.name,
    body: {
      model,
      max_tokens: maxTokens,
      ...conversation,
      ...(tools && { tools }),
      ...(choice && { tool_choice: choice }),
      ...samplingFor(call, traits, thinks, options.sampling ?? 'fit'),
      ...(thinking && { thinking }),
      ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
      ...(stops.length > 0 && { stop_sequences: stops }),
      ...(typeof user === 'string' && { metadata: { user_id: user } }),
      ...tierOf(call),
      ...(call.stream && { stream: true }),
    },
  }
}

/** The vendor's own `thinking` passes as it is; `reasoning_effort` is translated. */
function mindFor(
  call: ChatCall,
  traits: ClaudeTraits,
  maxTokens: number,
  messages: readonly Message[],
  forced: boolean,
): ThinkingOrder {
  if (isRecord(call.request['thinking'])) return { thinking: call.request['thinking'] }
  const effort = readEffort(call.request)
  if (effort === undefined) return {}
  const order = thinkingFor(effort, traits, maxTokens)
  if (order === undefined) throw unsupportedValue(call, 'reasoning_effort', 'it does not think; leave it out.')
  // Thinking and a forced call exclude each other. With a budget, a turn of calls must also begin with what was
  // thought: where the client has lost that, the model cannot go on thinking.
  const dropped = forced || (traits.thinking === 'budget' && lacksThinking(messages))
  return dropped && effort !== 'none' ? { ...(order.effort !== undefined && { effort: order.effort }) } : order
}

function lacksThinking(messages: readonly Message[]): boolean {
  if (!messages.at(-1)?.content.some(({ type }) => type === 'tool_result')) return false
  const first = messages.at(-2)?.content[0]?.type
  return first !== 'thinking' && first !== 'redacted_thinking'
}

function stopsOf(call: ChatCall): string[] {
  const stops = readStops(call.request)
  if (stops.some((stop) => stop.trim() === '')) {
    throw unsupportedValue(call, 'stop', 'each text needs a character other than white space.')
  }
  return stops
}

function tierOf(call: ChatCall): { service_tier?: string } {
  const tier = call.request['service_tier']
  if (tier === undefined || tier === null) return {}
  if (tier === 'auto') return { service_tier: 'auto' }
  if (tier === 'default') return { service_tier: 'standard_only' }
  throw unsupportedValue(call, 'service_tier', 'it must be "auto" or "default".')
}
