/** Reads and validates the messages of a chat request, for vendors whose format is not OpenAI's. */
import { objectIn } from '../../http/json.ts'
import { invalid } from '../../errors.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { listOf, readContent, readText, readRecord, stringIn, type Part, type TextPart } from './parts.ts'
import { isRecord } from '../../wire/json.ts'

export type Turn = SystemTurn | UserTurn | AssistantTurn | ToolTurn

export interface SystemTurn {
  readonly role: 'system'
  readonly parts: readonly TextPart[]
}

export interface UserTurn {
  readonly role: 'user'
  readonly parts: readonly Part[]
}

export interface AssistantTurn {
  readonly role: 'assistant'
  readonly parts: readonly TextPart[]
  readonly calls: readonly PastCall[]
  /** The message as the client sent it: it may carry opaque data that the vendor needs back. */
  readonly raw: Readonly<Record<string, unknown>>
}

export interface PastCall {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly raw: Readonly<Record<string, unknown>>
}

export interface ToolTurn {
  readonly role: 'tool'
  readonly callId: string
  /** The name of the function. Looked up by the call's id, because `tool` messages do not carry it. */
  readonly name: string
  readonly parts: readonly Part[]
}

export function readTurns(messages: ChatRequest['messages']): Turn[] {
  const names = new Map<string, string>()
  return messages.map((message: unknown, index) => {
    const param = `messages[${index}]`
    const raw = readRecord(message, param)
    const content = `${param}.content`
    switch (raw['role']) {
      case 'system':
      case 'developer':
        return { role: 'system', parts: readText(raw['content'], content) }
      case 'user':
        return { role: 'user', parts: readContent(raw['content'], content) }
      case 'assistant': {
        const calls = readCalls(raw['tool_calls'], `${param}.tool_calls`)
        for (const { id, name } of calls) names.set(id, name)
        return { role: 'assistant', parts: readText(raw['content'] ?? raw['refusal'], content), calls, raw }
      }
      case 'tool': {
        const callId = stringIn(raw, 'tool_call_id', param)
        const name = names.get(callId)
        const where = `${param}.tool_call_id`
        if (name === undefined) throw invalid(`"${where}" must be the id of a tool call in an earlier message.`, where)
        return { role: 'tool', callId, name, parts: readContent(raw['content'], content) }
      }
      default:
        throw invalid(`"${param}.role" must be "system", "user", "assistant" or "tool".`, `${param}.role`)
    }
  })
}

function readCalls(raw: unknown, param: string): PastCall[] {
  return listOf(raw, param).map((each, index) => {
    const where = `${param}[${index}]`
    const call = readRecord(each, where)
    const called = readRecord(call['function'], `${where}.function`)
    const name = stringIn(called, 'name', `${where}.function`)
    return { id: stringIn(call, 'id', where), name, input: inputOf(called['arguments']), raw: call }
  })
}

/**
 * Arguments as an object. Broken JSON is passed on as text: the model wrote it, the client's next message reports it, and
 * the conversation must be able to continue.
 */
function inputOf(text: unknown): Record<string, unknown> {
  if (isRecord(text)) return text
  if (typeof text !== 'string' || text.trim() === '') return {}
  return objectIn(text) ?? { invalid_arguments: text }
}
