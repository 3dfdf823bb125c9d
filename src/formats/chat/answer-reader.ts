/** Reads whole chat completions, whichever vendor they come from: each is a stream of one event. */
import { fold } from '../../conversation/fold.ts'
import type { Fields } from '../../conversation/conversation.ts'
import type { Answer, Part } from '../../conversation/parts.ts'
import { billed, unreadable, type ProviderError } from '../../providers/failure.ts'
import { readUsage } from '../../wire/counts.ts'
import { isRecord } from '../../wire/json.ts'
import type { Source } from '../format.ts'
import { ChatEventReader } from './event-reader.ts'

/** Throws what `from` makes of an error, and for a malformed answer. */
export function readAnswer(body: Fields, from: Source): Answer {
  const { choices, error } = body
  if (error) throw from.failure(error)
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every(isRecord))
    throw unreadable('the response of the vendor has no choices')
  const reader = new ChatEventReader(from)
  const parts: Part[] = []
  try {
    reader.read({ ...body, choices: choices.map(checked) }, parts)
    reader.end(parts)
  } catch (thrown) {
    // What the answer says of its usage comes after its choices.
    throw billed(thrown, readUsage(body['usage']))
  }
  return fold(parts)
}

/** Choices and calls may lack their index. */
function checked(choice: Fields, position: number): Fields {
  const { message = {}, delta: _, ...rest } = choice
  if (!isRecord(message)) throw malformed('message')
  const { content, tool_calls: calls } = message
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content))
    throw malformed('content')
  if (calls && !Array.isArray(calls)) throw malformed('tool_calls')
  for (const call of Array.isArray(calls) ? (calls as unknown[]) : []) {
    if (!isRecord(call)) throw malformed('call')
    if (call['function'] && !isRecord(call['function'])) throw malformed('function')
  }
  return { index: position, ...rest, message }
}

export function malformed(what: string): ProviderError {
  return unreadable(`the vendor sent a malformed "${what}"`)
}
