/** The few fields of a request that a vendor gets otherwise than the client sent them. */
import type { Call } from '../contract.ts'
import { isRecord } from '../reading/parts.ts'
import type { OpenAIOptions } from './openai.ts'

type Changes = Record<string, unknown>

/** For `Call.json`. */
export function adapted(call: Call<unknown>, options: OpenAIOptions): Changes {
  return {
    ...usageAsked(call, options),
    ...limitRenamed(call, options),
    ...fieldsRenamed(call, options),
    ...fieldsLeftOut(call, options),
    ...pastCleaned(call, options),
  }
}

/** Usage is always asked for: without it the answer could only be billed by estimate. */
function usageAsked({ stream, field }: Call<unknown>, { usageInStreams }: OpenAIOptions): Changes {
  if (!stream) return {}
  if (usageInStreams === false) return field('stream_options') === undefined ? {} : { stream_options: undefined }
  return { stream_options: { ...Object(field('stream_options')), include_usage: true } }
}

function limitRenamed({ field }: Call<unknown>, { tokenLimit }: OpenAIOptions): Changes {
  if (tokenLimit === undefined) return {}
  const other = tokenLimit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  const limit = field(other)
  return limit === undefined ? {} : { [other]: undefined, [tokenLimit]: field(tokenLimit) ?? limit }
}

function fieldsRenamed({ field }: Call<unknown>, { rename }: OpenAIOptions): Changes {
  const changes: Changes = {}
  for (const [from, to] of Object.entries(rename ?? {})) {
    const value = field(from)
    if (value !== undefined) Object.assign(changes, { [from]: undefined, [to]: value })
  }
  return changes
}

function fieldsLeftOut({ field }: Call<unknown>, { leaveOut = [] }: OpenAIOptions): Changes {
  return Object.fromEntries(leaveOut.filter((name) => field(name) !== undefined).map((name) => [name, undefined]))
}

/** What models leave in their messages beside OpenAI's own fields, here and elsewhere. */
const left = ['reasoning', 'reasoning_content', 'reasoning_details', 'extra_content', 'images']

/**
 * A conversation may have begun with another vendor's model. What that one left in its messages is taken out for
 * vendors that refuse fields they do not know.
 */
function pastCleaned(call: Call<unknown>, { pastFields }: OpenAIOptions): Changes {
  if (pastFields === undefined || !mayHoldLeft(call.json({}))) return {}
  const messages = call.field('messages')
  if (!Array.isArray(messages)) return {}
  const unwanted = left.filter((name) => !pastFields.includes(name))
  const cleaned = messages.map((message: unknown) => clean(message, unwanted))
  return cleaned.some((message, index) => message !== messages[index]) ? { messages: cleaned } : {}
}

/** Looked for by their ends: a search for a rare first byte takes a tenth of the time of one for a quote. */
function mayHoldLeft(body: Uint8Array): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return bytes.includes('_content"') || bytes.includes('_details"')
}

function clean(message: unknown, unwanted: readonly string[]): unknown {
  if (!isRecord(message) || message['role'] !== 'assistant') return message
  const calls = message['tool_calls']
  const marked = Array.isArray(calls) && calls.some((call) => isRecord(call) && 'extra_content' in call)
  const callsToo = marked && unwanted.includes('extra_content')
  if (!callsToo && !unwanted.some((name) => name in message)) return message
  const kept = Object.fromEntries(Object.entries(message).filter(([name]) => !unwanted.includes(name)))
  return callsToo ? { ...kept, tool_calls: calls.map(withoutExtra) } : kept
}

function withoutExtra(call: unknown): unknown {
  if (!isRecord(call)) return call
  const { extra_content: _, ...rest } = call
  return rest
}
