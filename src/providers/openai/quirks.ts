/** Changes of messages for vendors that reject what OpenAI accepts. */
import { createHash } from 'node:crypto'
import { isRecord } from '../../wire/json.ts'

/** The message as one of the system, for vendors that know no developer. */
export function withoutDeveloper(message: unknown): unknown {
  return isRecord(message) && message['role'] === 'developer' ? { ...message, role: 'system' } : message
}

/** The message with ids of calls that Mistral accepts. Each id becomes the same one in every message. */
export function withShortCallIds(message: unknown): unknown {
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
