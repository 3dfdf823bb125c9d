/** Adapts a request to a vendor that deviates from OpenAI's API. */
import type { Call } from '../contract.ts'
import { fieldsOf, isRecord, itemsOf, textOf } from '../../wire/json.ts'
import type { OpenAIOptions } from './options.ts'
import { createHash } from 'node:crypto'

type Changes = Record<string, unknown>

/** The fields to change, for `Call.json`. */
export function changesFor(call: Call<unknown>, options: OpenAIOptions): Changes {
  const changes: Changes = call.stream ? requestUsage(call, options) : {}
  renameLimit(changes, call, options)
  for (const from in options.rename) {
    const value = call.field(from)
    if (value !== undefined) Object.assign(changes, { [from]: undefined, [options.rename[from] as string]: value })
  }
  for (const name of options.dropParams ?? []) {
    const value = call.field(name)
    // Special tiers are passed on, so that the vendor rejects them explicitly.
    if (value !== undefined && !(name === 'service_tier' && specialTiers.includes(value))) changes[name] = undefined
  }
  return Object.assign(changes, adaptMessages(call, options))
}

const specialTiers: readonly unknown[] = ['flex', 'priority', 'scale']

/** Usage is always requested, even if the client did not: without it the response could only be billed by estimate. */
function requestUsage({ field }: Call<unknown>, { usageInStreams }: OpenAIOptions): Changes {
  if (usageInStreams === false) return field('stream_options') === undefined ? {} : { stream_options: undefined }
  return { stream_options: { ...Object(field('stream_options')), include_usage: true } }
}

function renameLimit(changes: Changes, { field }: Call<unknown>, { tokenLimit }: OpenAIOptions): void {
  if (tokenLimit === undefined) return
  const other = tokenLimit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  const limit = field(other)
  if (limit !== undefined) Object.assign(changes, { [other]: undefined, [tokenLimit]: field(tokenLimit) ?? limit })
}

/** The non-standard fields that the models of all vendors put into assistant messages. */
const extraFields = ['reasoning', 'reasoning_content', 'reasoning_details', 'extra_content', 'images']

/**
 * Adapts the conversation: it may have started with another vendor's model, and the client may have dropped fields that
 * this vendor requires.
 */
function adaptMessages(call: Call<unknown>, options: OpenAIOptions): Changes | undefined {
  const {
    pastFields,
    messageNames = true,
    wantsReasoning = false,
    developerRole = true,
    shortCallIds = false,
  } = options
  if (pastFields === undefined && messageNames && !wantsReasoning && developerRole && !shortCallIds) return undefined
  const body = bytesOf(call.json({}))
  const steps: ((message: unknown) => unknown)[] = []
  if (!messageNames && body.includes('"name"')) steps.push(withoutName)
  if (wantsReasoning && body.includes('_calls"')) steps.push(withReasoning)
  if (!developerRole && body.includes('"developer"')) steps.push(withoutDeveloper)
  if (shortCallIds && (body.includes('_calls"') || body.includes('_call_id"'))) steps.push(withShortCallIds)
  if (pastFields !== undefined && mayHaveExtraFields(body)) {
    const known = wantsReasoning ? [...pastFields, 'reasoning_content'] : pastFields
    const unwanted = extraFields.filter((name) => !known.includes(name))
    steps.push((message) => clean(message, unwanted))
  }
  const messages = steps.length > 0 ? call.field('messages') : undefined
  if (!Array.isArray(messages)) return undefined
  const adapted = messages.map((message: unknown) => steps.reduce((changed, step) => step(changed), message))
  return adapted.some((message, index) => message !== messages[index]) ? { messages: adapted } : undefined
}

function bytesOf(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/**
 * A fast test on the bytes. Each needle starts with a character that base64 does not contain: searching inline images for
 * a common first byte takes many times as long.
 */
function mayHaveExtraFields(body: Buffer): boolean {
  return ['_content"', '_details"', '"reasoning"', '"images'].some((needle) => body.includes(needle))
}

/** Keeps the name in messages of the role `function`, where it identifies the function. */
function withoutName(message: unknown): unknown {
  if (!isRecord(message) || !('name' in message) || message['role'] === 'function') return message
  const { name: _, ...rest } = message
  return rest
}

/** In place of reasoning that the client did not keep: DeepSeek rejects an empty text. */
const noReasoning = ' '

/**
 * Gives a message of the assistant its reasoning, from whichever field has it. Once there are tool calls, the vendors
 * expect it in all of them, also in the answer that follows the last result.
 */
function withReasoning(message: unknown): unknown {
  if (!isRecord(message) || message['role'] !== 'assistant') return message
  const { reasoning_content: standard, reasoning, reasoning_details: details } = message
  if (typeof standard === 'string' && standard !== '') return message
  const own = typeof reasoning === 'string' ? reasoning : textsIn(details)
  return { ...message, reasoning_content: own || noReasoning }
}

function textsIn(details: unknown): string {
  return itemsOf(details)
    .map((each) => textOf(fieldsOf(each)['text']))
    .join('')
}

function clean(message: unknown, unwanted: readonly string[]): unknown {
  if (!isRecord(message) || message['role'] !== 'assistant') return message
  const calls = message['tool_calls']
  const haveExtra = Array.isArray(calls) && calls.some((call) => isRecord(call) && 'extra_content' in call)
  const cleanCalls = haveExtra && unwanted.includes('extra_content')
  if (!cleanCalls && !unwanted.some((name) => name in message)) return message
  const kept = Object.fromEntries(Object.entries(message).filter(([name]) => !unwanted.includes(name)))
  return cleanCalls ? { ...kept, tool_calls: calls.map(withoutExtra) } : kept
}

function withoutExtra(call: unknown): unknown {
  if (!isRecord(call)) return call
  const { extra_content: _, ...rest } = call
  return rest
}

/** The message as one of the system, for vendors that know no developer. */
function withoutDeveloper(message: unknown): unknown {
  return isRecord(message) && message['role'] === 'developer' ? { ...message, role: 'system' } : message
}

/** The message with ids of calls that Mistral accepts. Each id becomes the same one in every message. */
function withShortCallIds(message: unknown): unknown {
  if (!isRecord(message)) return message
  const { tool_calls: calls, tool_call_id: id } = message
  if (typeof id === 'string') return isShort(id) ? message : { ...message, tool_call_id: shortened(id) }
  if (!Array.isArray(calls) || !calls.some(isLong)) return message
  return {
    ...message,
    tool_calls: calls.map((call: unknown) => (isLong(call) ? { ...call, id: shortened(call.id) } : call)),
  }
}

function isLong(call: unknown): call is { readonly id: string } {
  return isRecord(call) && typeof call['id'] === 'string' && !isShort(call['id'])
}

function isShort(id: string): boolean {
  return /^[a-zA-Z0-9]{9}$/.test(id)
}

function shortened(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 9)
}
