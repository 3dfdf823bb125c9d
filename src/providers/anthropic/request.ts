/** Translates a chat request to the body of `POST /v1/messages`. Source: Anthropic's API reference, version 2023-06-01. */
import type { Call } from '../contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { anthropicExtras } from '../costs/lists.ts'
import { readTurns } from '../reading/messages.ts'
import { isRecord } from '../../wire/json.ts'
import { jsonTurn, readEffort, readFormat, readLimit, readStops } from '../reading/settings.ts'
import { isForced, readTools } from '../reading/tools.ts'
import { refuseFields, unsupportedValue } from '../unsupported.ts'
import { isThinking } from './block-order.ts'
import { conversationOf, type Message } from './messages.ts'
import { traitsOf, type ClaudeTraits } from './models.ts'
import { samplingFor, type SamplingManner } from './sampling.ts'
import { strictSchema } from './schema.ts'
import { StrictBudget } from './strictness.ts'
import { thinkingFor, type ThinkingFields } from './thinking.ts'
import { toolFields, withAnswerTool } from './tools.ts'
import { createHash } from 'node:crypto'

export interface RequestOptions {
  /** Corrections of the built-in table of models, keyed by the vendor's name for the model. Default: none. */
  readonly traits?: Readonly<Record<string, Partial<ClaudeTraits>>>
  /**
   * How to treat a `temperature`, `top_p` or `top_k` that the model does not accept. `fit`: reduce a temperature above 1 to
   * 1, and drop the others. `refuse`: respond with a 400. Default `fit`.
   */
  readonly sampling?: SamplingManner
  /** Fields without a counterpart at the vendor to drop instead of rejecting, such as `['seed']`. Default: none. */
  readonly dropParams?: readonly string[]
}

export type ChatCall = Pick<Call<ChatRequest>, 'request' | 'model' | 'publicModel' | 'maxOutputTokens' | 'stream'>

export interface MessagesRequest {
  readonly body: Readonly<Record<string, unknown>>
  /** Whether it contains thinking of earlier responses. */
  readonly hasThinking: boolean
  /** The tool whose input is the structured response, if there is one. */
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

/** `keepsThinking`: whether to send the thinking of earlier responses back. */
export function requestFor(call: ChatCall, options: RequestOptions, keepsThinking: boolean = true): MessagesRequest {
  const { request, model } = call
  refuseFields(call, unknownToVendor, options.dropParams)
  const traits = { ...traitsOf(model), ...options.traits?.[model] }
  const maxTokens = readLimit(request) ?? call.maxOutputTokens ?? traits.maxTokens
  const format = readFormat(call)
  const plan = readTools(call)
  const forced = isForced(plan)
  if (forced && !traits.forcedTools) throw unsupportedValue(call, 'tool_choice', 'it must be "auto" or "none".')

  const turns = readTurns(request.messages)
  if (format.kind === 'json') turns.push(jsonTurn)
  const conversation = conversationOf(turns, call, keepsThinking)
  const { thinking, effort } = thinkingOf(call, traits, maxTokens, conversation.messages, forced)
  const thinks = thinking !== undefined && thinking['type'] !== 'disabled'

  const budget = traits.schemas ? new StrictBudget() : undefined
  const enforced = format.kind === 'schema' && budget?.take(format.schema) === true
  const replacement =
    format.kind === 'schema' && !enforced
      ? withAnswerTool(plan, format, budget, traits.forcedTools && !thinks)
      : undefined
  const { tools, tool_choice: choice } = replacement ?? toolFields(plan, turns, budget)
  const outputConfig = {
    ...(effort !== undefined && { effort }),
    ...(enforced && { format: { type: 'json_schema', schema: strictSchema(format.schema) } }),
  }
  const stops = stopsOf(call)
  return {
    answerTool: replacement?.name,
    hasThinking: conversation.messages.some(({ content }) => content.some(isThinking)),
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
      ...metadataFor(request),
      ...extrasOf(request),
      ...tierOf(call),
      ...(call.stream && { stream: true }),
    },
  }
}

/** Passes the vendor's own field `thinking` on, and translates `reasoning_effort`. */
function thinkingOf(
  call: ChatCall,
  traits: ClaudeTraits,
  maxTokens: number,
  messages: readonly Message[],
  forced: boolean,
): ThinkingFields {
  const own = call.request['thinking']
  if (isRecord(own)) return own['type'] === 'enabled' && lacksThinking(messages) ? {} : { thinking: own }
  const effort = readEffort(call.request)
  if (effort === undefined) return {}
  const fields = thinkingFor(effort, traits, maxTokens)
  if (fields === undefined) throw unsupportedValue(call, 'reasoning_effort', 'it has no reasoning; omit the field.')
  // Thinking is not possible with a forced tool call, or when the model continues an assistant message. With a budget, a
  // turn with tool calls must also start with its thinking; without it, as for another vendor's turn, thinking must be off.
  const continued = messages.at(-1)?.role === 'assistant'
  const dropped = forced || continued || (traits.thinking === 'budget' && lacksThinking(messages))
  return dropped && effort !== 'none' ? { ...(fields.effort !== undefined && { effort: fields.effort }) } : fields
}

function lacksThinking(messages: readonly Message[]): boolean {
  if (!messages.at(-1)?.content.some(({ type }) => type === 'tool_result')) return false
  const first = messages.at(-2)?.content[0]
  return first === undefined || !isThinking(first)
}

function stopsOf(call: ChatCall): string[] {
  const stops = readStops(call.request)
  if (stops.some((stop) => stop.trim() === '')) {
    throw unsupportedValue(call, 'stop', 'each sequence must have a character other than white space.')
  }
  return stops
}

/** Vendor-specific fields. The gateway has already rejected those that the host neither allows nor sets. */
function extrasOf(request: ChatRequest): Readonly<Record<string, unknown>> {
  const given = anthropicExtras.filter((name) => request[name] !== undefined && request[name] !== null)
  return Object.fromEntries(given.map((name) => [name, request[name]]))
}

function tierOf(call: ChatCall): { service_tier?: string } {
  const tier = call.request['service_tier']
  if (tier === undefined || tier === null) return {}
  if (tier === 'auto') return { service_tier: 'auto' }
  if (tier === 'default' || tier === 'standard_only') return { service_tier: 'standard_only' }
  throw unsupportedValue(call, 'service_tier', 'it must be "auto" or "default".')
}

/**
 * The vendor rejects user ids that are longer than 256 characters, or that are e-mail addresses or telephone numbers. The
 * id is only a hint and must not fail the request, so anything that is not an opaque token is replaced by its hash.
 */
function metadataFor({ safety_identifier: safety, user }: Readonly<Record<string, unknown>>): {
  readonly metadata?: { readonly user_id: string }
} {
  const id = [safety, user].find((each) => typeof each === 'string' && each !== '') as string | undefined
  if (id === undefined) return {}
  const opaque = /^[\w.:|/=-]{1,256}$/.test(id) && !isTelephoneNumber(id)
  return { metadata: { user_id: opaque ? id : createHash('sha256').update(id).digest('hex') } }
}

function isTelephoneNumber(text: string): boolean {
  return /^[\d.-]+$/.test(text) && /^\d{7,15}$/.test(text.replaceAll(/\D/g, ''))
}
