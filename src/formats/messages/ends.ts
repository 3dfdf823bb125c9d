/** How messages end, and what is counted. */
import type { Fields } from '../../conversation/conversation.ts'
import type { Answer, End, Reason } from '../../conversation/parts.ts'
import { entryIn, fieldsOf, isRecord, stringOf } from '../../wire/json.ts'
import type { MessageUsage } from '../../wire/messages.ts'
import type { Usage } from '../../wire/usage.ts'

/** The fields of a message that are read. */
export const messageFields: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'model',
  'content',
  'stop_reason',
  'stop_sequence',
  'stop_details',
  'usage',
])

const reasons: Readonly<Record<string, Reason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'calls',
  refusal: 'refused',
  pause_turn: 'pause',
  compaction: 'compaction',
  model_context_window_exceeded: 'context',
}

const names: Readonly<Record<Reason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  calls: 'tool_use',
  filter: 'refusal',
  refused: 'refusal',
  pause: 'pause_turn',
  context: 'model_context_window_exceeded',
  compaction: 'compaction',
}

/** The end in a message, or in the `delta` of its last event; undefined if it has not ended. */
export function readEnd({ stop_reason: reason, stop_sequence: stop, stop_details: details }: Fields): End | undefined {
  if (typeof reason !== 'string') return undefined
  const own = isRecord(details) ? { messages: { stop_details: details } } : undefined
  return { reason: entryIn(reasons, reason) ?? 'stop', stop: stringOf(stop), own }
}

/** The fields of a message for its end. Vendors disagree on whether calls are a reason of their own. */
export function writeEnd(end: End | undefined, hasCalls: boolean): Fields {
  const { reason = 'stop', stop, own } = end ?? {}
  const refusal =
    reason === 'filter' || reason === 'refused' ? { type: 'refusal', category: null, explanation: null } : null
  return {
    stop_reason: nameOf(reason, stop, hasCalls),
    stop_sequence: stop ?? null,
    stop_details: own?.messages?.['stop_details'] ?? refusal,
  }
}

function nameOf(reason: Reason, stop: string | undefined, hasCalls: boolean): string {
  if (reason !== 'stop' && reason !== 'calls') return names[reason]
  if (hasCalls) return 'tool_use'
  return stop === undefined ? 'end_turn' : 'stop_sequence'
}

/** Whether an answer may end in the middle of a call. */
export function mayCut(end: End | undefined): boolean {
  return end !== undefined && (end.stop !== undefined || (end.reason !== 'stop' && end.reason !== 'calls'))
}

/** Why the model refused, which Claude says beside the content. */
export function explanationIn({ stop_details: details }: Fields): string | undefined {
  return stringOf(fieldsOf(details)['explanation']) || undefined
}

/** The usage of a message. A vendor with this wire counts as clients expect it. */
export function writeUsage({ usage, counters }: Pick<Answer, 'usage' | 'counters'>): Fields {
  if (counters?.['input_tokens'] !== undefined && counters['cache_read_input_tokens'] !== undefined) return counters
  const { service_tier: tier } = usage ?? {}
  return {
    ...required,
    ...messageUsage(usage ?? { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
    service_tier: tier === 'default' ? 'standard' : tier === 'priority' || tier === 'batch' ? tier : null,
  }
}

/** The counters that clients expect even of vendors that do not have them. */
const required: Fields = { inference_geo: null, output_tokens_details: null, server_tool_use: null, speed: null }

/** Usage in the names of messages. Unlike in chats, what a cache has read or written does not count as input. */
function messageUsage(usage: Usage): MessageUsage {
  const { prompt_tokens_details: details, completion_tokens_details: made, server_tool_use: tools } = usage
  const read = details?.cached_tokens ?? 0
  const written = details?.cache_write_tokens ?? 0
  const long = Math.min(details?.cache_write_1h_tokens ?? 0, written)
  return {
    input_tokens: Math.max(0, usage.prompt_tokens - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: written - long, ephemeral_1h_input_tokens: long },
    output_tokens: usage.completion_tokens,
    ...(made?.reasoning_tokens !== undefined && { output_tokens_details: { thinking_tokens: made.reasoning_tokens } }),
    ...(tools && { server_tool_use: tools }),
  }
}
