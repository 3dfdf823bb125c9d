/** The few fields of a request that a vendor gets otherwise than the client sent them. */
import type { Call } from '../contract.ts'
import { isRecord } from '../reading/parts.ts'
import type { OpenAIOptions } from './options.ts'

type Changes = Record<string, unknown>

/** For `Call.json`. */
export function adapted(call: Call<unknown>, options: OpenAIOptions): Changes {
  return {
    ...usageAsked(call, options),
    ...limitRenamed(call, options),
    ...fieldsRenamed(call, options),
    ...fieldsLeftOut(call, options),
    ...messagesFitted(call, options),
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

/** Asked for in earnest: the vendor is to refuse them, not our silence. */
const specialTiers: readonly unknown[] = ['flex', 'priority', 'scale']

function fieldsLeftOut({ field }: Call<unknown>, { dropParams = [] }: OpenAIOptions): Changes {
  const idle = dropParams.filter((name) => {
    const value = field(name)
    return value !== undefined && (name !== 'service_tier' || !specialTiers.includes(value))
  })
  return Object.fromEntries(idle.map((name) => [name, undefined]))
}

/** What models leave in their messages beside OpenAI's own fields, here and elsewhere. */
const left = ['reasoning', 'reasoning_content', 'reasoning_details', 'extra_content', 'images']

/**
 * The conversation as the vendor takes it. It may have begun with another vendor's model, and a client may not have kept
 * what this one wants to see again.
 */
function messagesFitted(call: Call<unknown>, options: OpenAIOptions): Changes {
  const { pastFields, messageNames = true, wantsReasoning = false } = options
  if (pastFields === undefined && messageNames && !wantsReasoning) return {}
  const body = bytesOf(call.json({}))
  const unwanted =
    pastFields !== undefined && mayHoldLeft(body) ? left.filter((name) => !pastFields.includes(name)) : []
  const nameless = !messageNames && body.includes('"name"')
  const filled = wantsReasoning && body.includes('_calls"')
  const messages = unwanted.length > 0 || nameless || filled ? call.field('messages') : undefined
  if (!Array.isArray(messages)) return {}
  const fitted = messages.map((message: unknown) => {
    const named = nameless ? withoutName(message) : message
    const cleaned = clean(named, unwanted)
    return filled ? withReasoning(cleaned) : cleaned
  })
  return fitted.some((message, index) => message !== messages[index]) ? { messages: fitted } : {}
}

function bytesOf(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/** Looked for by what is rare in a picture's base64: a search for a common first byte takes many times as long. */
function mayHoldLeft(body: Buffer): boolean {
  return ['_content"', '_details"', '"reasoning"', '"images'].some((sign) => body.includes(sign))
}

/** A function's answer of the older kind is known by its name alone. */
function withoutName(message: unknown): unknown {
  if (!isRecord(message) || !('name' in message) || message['role'] === 'function') return message
  const { name: _, ...rest } = message
  return rest
}

function withReasoning(message: unknown): unknown {
  if (!isRecord(message) || message['role'] !== 'assistant' || !Array.isArray(message['tool_calls'])) return message
  return typeof message['reasoning_content'] === 'string' ? message : { ...message, reasoning_content: '' }
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
