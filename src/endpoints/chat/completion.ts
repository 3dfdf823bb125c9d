/** A vendor's whole completion, brought into the one form; the same object is given back where nothing had to change. */
import { readUsage } from '../../billing/usage.ts'
import { unavailable } from '../../providers/failure.ts'
import type { AssistantMessage, ChatCompletion, Choice, ToolCall } from '../../wire/chat.ts'
import { finishOf, partsOf } from './choice.ts'
import { argumentsOf, newCallId } from './tool-calls.ts'
import type { AnswerHead } from '../chunk-answer.ts'

export function completionOf(raw: ChatCompletion, fallback: AnswerHead, renamed: boolean): ChatCompletion {
  if (!Array.isArray(raw.choices) || raw.choices.length === 0 || raw.choices.some((choice) => !isObject(choice))) {
    throw unavailable('same', new Error('the vendor answered without a choice'))
  }
  const changes: Record<string, unknown> = {}
  if (!raw.id) changes['id'] = fallback.id
  if (raw.object !== 'chat.completion') changes['object'] = 'chat.completion'
  if (!raw.created) changes['created'] = fallback.created
  if (!raw.model || renamed) changes['model'] = fallback.model
  const choices = raw.choices.map(choiceOf)
  if (choices.some((choice, index) => choice !== raw.choices[index])) changes['choices'] = choices
  const usage = readUsage(raw.usage)
  if (usage !== raw.usage) changes['usage'] = usage
  return Object.keys(changes).length === 0 ? raw : { ...raw, ...changes }
}

function choiceOf(raw: Choice, position: number): Choice {
  const changes: Record<string, unknown> = {}
  if (raw.index === undefined) changes['index'] = position
  const message = messageOf(raw.message ?? {})
  if (message !== raw.message) changes['message'] = message
  const finish = finishOf(raw.finish_reason) ?? (message.tool_calls?.length ? 'tool_calls' : 'stop')
  if (finish !== raw.finish_reason) changes['finish_reason'] = finish
  if (raw.logprobs === undefined) changes['logprobs'] = null
  return Object.keys(changes).length === 0 ? raw : { ...raw, ...changes }
}

function messageOf(raw: AssistantMessage): AssistantMessage {
  const changes: Record<string, unknown> = {}
  if (raw.role !== 'assistant') changes['role'] = 'assistant'
  if (Array.isArray(raw.content)) {
    const { content, thinking } = partsOf(raw.content)
    changes['content'] = content ?? null
    if (thinking) changes['reasoning_content'] = thinking
  } else if (raw.content === undefined) changes['content'] = null
  if (raw.refusal === undefined || (raw.refusal as unknown) === '') changes['refusal'] = null
  if (Array.isArray(raw.tool_calls) && raw.tool_calls.length > 0) {
    const calls = raw.tool_calls.map(callOf)
    if (calls.some((call, index) => call !== raw.tool_calls?.[index])) changes['tool_calls'] = calls
  } else if (Array.isArray(raw.tool_calls)) changes['tool_calls'] = undefined
  // Places that some vendors hold for what is not there.
  if (isObject(raw['function_call']) && !raw['function_call']['name']) changes['function_call'] = undefined
  if (isObject(raw['audio']) && !raw['audio']['id']) changes['audio'] = undefined
  return Object.keys(changes).length === 0 ? raw : { ...raw, ...changes }
}

function callOf(raw: ToolCall): ToolCall {
  const changes: Record<string, unknown> = {}
  if (!raw.id) changes['id'] = newCallId()
  if (!raw.type) changes['type'] = 'function'
  if (raw.function?.name) {
    const text = argumentsOf(raw.function.arguments) || '{}'
    if (text !== raw.function.arguments) changes['function'] = { ...raw.function, arguments: text }
    if ('custom' in raw) changes['custom'] = undefined
  }
  if ('index' in raw) changes['index'] = undefined
  return Object.keys(changes).length === 0 ? raw : { ...raw, ...changes }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
