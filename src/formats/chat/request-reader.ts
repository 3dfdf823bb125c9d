/** Reads the body of `POST /v1/chat/completions`. */
import { invalid } from '../../errors.ts'
import { readRecord, stringIn } from '../../providers/reading/parts.ts'
import type { Conversation, Fields, Own, ResultBlock, Turn } from '../../conversation/conversation.ts'
import { others } from '../../conversation/json.ts'
import { readAssistant } from './assistant.ts'
import { readContent } from './content.ts'
import { readOutput, readSettings, settingNames } from './settings.ts'
import { readTools } from './tools.ts'

/** The fields that other wires can say too. */
export const saidFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  ...settingNames,
])

/** Throws 400 with the place. */
export function readRequest(body: Fields): Conversation {
  const { messages, parallel_tool_calls: parallel, max_completion_tokens: limit } = body
  if (!Array.isArray(messages)) throw invalid('"messages" must be a list.', 'messages')
  const { tools, toolChoice } = readTools(body)
  const conversation: { -readonly [Name in keyof Conversation]: Conversation[Name] } = {
    turns: readTurns(messages),
    tools,
    settings: readSettings(body),
  }
  if (toolChoice !== undefined) conversation.toolChoice = toolChoice
  if (typeof parallel === 'boolean') conversation.parallel = parallel
  const output = readOutput(body['response_format'])
  if (output !== undefined) conversation.output = output
  const own = others(body, saidFields)
  if (limit !== undefined && limit !== null) conversation.own = { chat: { ...own, limit: 'max_completion_tokens' } }
  else if (own !== undefined) conversation.own = { chat: own }
  return conversation
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
  switch (role) {
    case 'system':
      return turnOf('system', readContent(content, `${place}.content`), place, others(raw, turnFields))
    case 'developer': {
      const own = { ...others(raw, turnFields), role }
      return turnOf('system', readContent(content, `${place}.content`), place, own)
    }
    case 'user':
      return turnOf('user', readContent(content, `${place}.content`), place, others(raw, turnFields))
    case 'assistant': {
      const { blocks, own } = readAssistant(raw, place)
      return turnOf('assistant', blocks, place, own)
    }
    default:
      throw invalid(`"${place}.role" must be "system", "user", "assistant" or "tool".`, `${place}.role`)
  }
}

function turnOf(role: Turn['role'], blocks: Turn['blocks'], place: string, own: Fields | undefined): Turn {
  return own === undefined ? { role, blocks, place } : { role, blocks, place, own: { chat: own } }
}

function readResult(raw: Record<string, unknown>, place: string): ResultBlock {
  const callId = stringIn(raw, 'tool_call_id', place)
  const block: { place: string; own?: Own } & Omit<ResultBlock, 'own'> = {
    kind: 'result',
    callId,
    blocks: readContent(raw['content'], `${place}.content`),
    place,
  }
  const more = others(raw, resultFields)
  if (more !== undefined) block.own = { chat: more }
  return block
}
