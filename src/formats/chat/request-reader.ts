/** Reads the body of `POST /v1/chat/completions`. */
import { invalid } from '../../errors.ts'
import { readRecord, stringIn } from '../../providers/reading/parts.ts'
import type { Conversation, ResultBlock, Turn } from '../../conversation/conversation.ts'
import { asOwn, others, ownOf } from '../../conversation/own.ts'
import { booleanOf, type Fields } from '../../wire/json.ts'
import { readAssistant } from './assistant.ts'
import { readContent } from './content.ts'
import { saidFields } from './field-names.ts'
import { readOutput, readSettings } from './settings.ts'
import { readTools } from './tools.ts'

/** Throws 400 with the place. */
export function readRequest(body: Fields): Conversation {
  const { messages, max_completion_tokens: limit } = body
  if (!Array.isArray(messages)) throw invalid('"messages" must be a list.', 'messages')
  const own = others(body, saidFields)
  const hasNewLimit = limit !== undefined && limit !== null
  return {
    ...readTools(body),
    turns: readTurns(messages),
    settings: readSettings(body),
    parallel: booleanOf(body['parallel_tool_calls']),
    output: readOutput(body['response_format']),
    own: asOwn('chat', hasNewLimit ? { ...own, limit: 'max_completion_tokens' } : own),
  }
}

function readTurns(messages: readonly unknown[]): Turn[] {
  const turns: Turn[] = []
  /** The results of calls stand in messages of their own; together they are one turn. */
  let results: ResultBlock[] | undefined
  for (const [index, value] of messages.entries()) {
    const place = `messages[${index}]`
    const raw = readRecord(value, place)
    if (raw['role'] === 'tool') {
      const result = readResult(raw, place)
      if (results !== undefined) results.push(result)
      else turns.push({ role: 'user', blocks: (results = [result]), place })
      continue
    }
    results = undefined
    turns.push(readTurn(raw, place))
  }
  return turns
}

const turnFields = new Set(['role', 'content'])
const resultFields = new Set(['role', 'content', 'tool_call_id'])

function readTurn(raw: Record<string, unknown>, place: string): Turn {
  const { role, content } = raw
  if (role === 'assistant') {
    const { blocks, own } = readAssistant(raw, place)
    return { role, blocks, place, own: asOwn('chat', own) }
  }
  if (role !== 'system' && role !== 'developer' && role !== 'user')
    throw invalid(`"${place}.role" must be "system", "user", "assistant" or "tool".`, `${place}.role`)
  const blocks = readContent(content, `${place}.content`)
  const own = others(raw, turnFields)
  if (role !== 'developer') return { role, blocks, place, own: asOwn('chat', own) }
  return { role: 'system', blocks, place, own: { chat: { ...own, role } } }
}

function readResult(raw: Record<string, unknown>, place: string): ResultBlock {
  const callId = stringIn(raw, 'tool_call_id', place)
  const blocks = readContent(raw['content'], `${place}.content`)
  return { kind: 'result', callId, blocks, place, own: ownOf('chat', raw, resultFields) }
}
