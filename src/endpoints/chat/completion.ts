import { readUsage } from '../../wire/counts.ts'
import { maxChoices, maxToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import { unreadable } from '../../providers/failure.ts'
import type { AssistantMessage, ChatCompletion, Choice, ToolCall } from '../../wire/chat.ts'
import { withSealedState } from './seal-state.ts'
import { malformed } from '../../formats/chat/answer-reader.ts'
import { finishOf } from '../../formats/chat/ends.ts'
import { partsOf } from './choice.ts'
import { argumentsOf, callId, ownId } from '../../formats/chat/tool-calls.ts'
import { namedAs, type AnswerHead } from '../chunk-facts.ts'
import { isRecord, withValues, type Fields } from '../../wire/json.ts'

/**
 * Normalises a vendor's non-streaming completion; the same object if nothing has to change. Throws if it is malformed.
 * `maker`: the name in envelopes; default: none are made.
 */
export function completionOf(
  raw: ChatCompletion,
  fallback: AnswerHead,
  renamed: boolean,
  maker?: string,
): ChatCompletion {
  if (!Array.isArray(raw.choices) || raw.choices.length === 0 || raw.choices.some((choice) => !isRecord(choice))) {
    throw unreadable('the response of the vendor has no choices')
  }
  if (raw.choices.length > maxChoices) throw tooMany('choices', maxChoices)
  const choices = raw.choices.map((choice, position) => choiceOf(choice, position, maker))
  return withValues(raw, {
    ...namedAs(raw, fallback, renamed),
    object: 'chat.completion',
    system_fingerprint: raw['system_fingerprint'] ?? null,
    choices: choices.some((choice, index) => choice !== raw.choices[index]) ? choices : raw.choices,
    usage: readUsage(raw.usage),
  })
}

function choiceOf(raw: Choice, position: number, maker: string | undefined): Choice {
  const plain = messageOf(requireRecord(raw.message ?? {}, 'message') as unknown as AssistantMessage)
  const message = maker === undefined ? plain : withSealedState(plain, maker)
  return withValues(raw, {
    index: raw.index ?? position,
    message,
    finish_reason: finishOf(raw.finish_reason) ?? (message.tool_calls?.length ? 'tool_calls' : 'stop'),
    logprobs: raw.logprobs ?? null,
  })
}

function messageOf(raw: AssistantMessage): AssistantMessage {
  const changes: Record<string, unknown> = {}
  if (raw.role !== 'assistant') changes['role'] = 'assistant'
  if (Array.isArray(raw.content)) {
    const { content, thinking } = partsOf(raw.content)
    changes['content'] = content ?? null
    if (thinking) changes['reasoning_content'] = thinking
  } else if (raw.content === undefined) changes['content'] = null
  else if (raw.content !== null && typeof raw.content !== 'string') throw malformed('content')
  if (raw.refusal === undefined || (raw.refusal as unknown) === '') changes['refusal'] = null
  if (raw.tool_calls) {
    const calls = callsOf(raw.tool_calls)
    if (calls !== raw.tool_calls || calls.length === 0) changes['tool_calls'] = calls.length === 0 ? undefined : calls
  }
  // Some vendors send empty placeholders.
  if (isPlaceholder(raw['function_call'], 'name')) changes['function_call'] = undefined
  if (isPlaceholder(raw['audio'], 'id')) changes['audio'] = undefined
  return withValues(raw, changes)
}

/** The same list if nothing has to change. */
function callsOf(raw: unknown): readonly ToolCall[] {
  if (!Array.isArray(raw)) throw malformed('tool_calls')
  if (raw.length > maxToolCalls) throw tooMany('tool calls', maxToolCalls)
  const taken = new Set<string>()
  const calls = raw.map((call) => callOf(requireRecord(call, 'call') as unknown as ToolCall, taken))
  return calls.some((call, index) => call !== raw[index]) ? calls : raw
}

function callOf(raw: ToolCall, taken: Set<string>): ToolCall {
  const changes: Record<string, unknown> = {}
  const id = ownId(callId(raw.id), taken)
  if (id !== raw.id) changes['id'] = id
  if (!raw.type) changes['type'] = 'function'
  if (raw.function) requireRecord(raw.function, 'function')
  if (raw.function?.name) {
    const text = argumentsOf(raw.function.arguments) || '{}'
    if (text !== raw.function.arguments) changes['function'] = { ...raw.function, arguments: text }
    if ('custom' in raw) changes['custom'] = undefined
  }
  if ('index' in raw) changes['index'] = undefined
  return withValues(raw, changes)
}

function requireRecord(value: unknown, what: string): Record<string, unknown> {
  if (isRecord(value)) return value
  throw malformed(what)
}

/** Whether a value is an object without the field that says what it is. */
function isPlaceholder(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && !(value as Fields)[name]
}
