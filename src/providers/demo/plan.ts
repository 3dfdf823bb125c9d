/** Plans a response: its text or its tool calls, in steps of about one token. */
import type { ChatRequest, Delta, FinishReason, ResponseFormat } from '../../wire/chat.ts'
import { answerTo } from './answer.ts'
import { budget, Spending } from './budget.ts'
import { conversationOf } from './conversation.ts'
import { Hints } from './hints.ts'
import { sample } from './sample.ts'
import type { Schema } from './schema.ts'
import { countTokens, tokensOf } from './tokens.ts'
import { callsFor, type PlannedCall } from './tools.ts'

export interface Plan {
  readonly steps: readonly Step[]
  readonly reason: FinishReason
}

export interface Step {
  readonly delta: Delta
  readonly tokens: number
}

export function planOf(request: ChatRequest): Plan {
  const most = Math.max(Math.floor(budget.answerTokens / (request.n ?? 1)), 1)
  const limit = Math.min(request.max_completion_tokens ?? request.max_tokens ?? most, most)
  const conversation = conversationOf(request.messages)
  const calls = callsFor(request, conversation)
  if (calls.length > 0) {
    const reason = calls[0]?.kind === 'legacy' ? 'function_call' : 'tool_calls'
    return limited(calls.flatMap(stepsOfCall), reason, limit)
  }
  const answer = answerTo(conversation).slice(0, budget.answerLength)
  const text = cutAtStop(inFormat(answer, request.response_format, conversation.question), request.stop)
  return limited(
    // A token has at most nine characters.
    tokensOf(text.slice(0, (limit + 1) * 9)).map((content) => ({ delta: { content }, tokens: 1 })),
    'stop',
    limit,
  )
}

function limited(steps: readonly Step[], reason: FinishReason, limit: number): Plan {
  let tokens = 0
  const end = steps.findIndex((step) => (tokens += step.tokens) > limit)
  const kept = end < 0 ? steps : steps.slice(0, end)
  const nonEmpty = kept.length > 0 ? kept : [{ delta: { content: '' }, tokens: 0 }]
  return { steps: nonEmpty, reason: end < 0 ? reason : 'length' }
}

function stepsOfCall({ kind, name, input }: PlannedCall, index: number): Step[] {
  const piece = (text: string) => (kind === 'custom' ? { input: text } : { arguments: text })
  // The call of the deprecated `functions` is a single object; those of `tools` are a list.
  const delta = (type: object, call: object): Delta =>
    kind === 'legacy' ? { function_call: call } : { tool_calls: [{ index, ...type, [kind]: call }] }
  const rest = tokensOf(input).map((text) => ({ delta: delta({}, piece(text)), tokens: 1 }))
  return [{ delta: delta({ type: kind }, { name, ...piece('') }), tokens: countTokens(name) }, ...rest]
}

function cutAtStop(text: string, stop: ChatRequest['stop']): string {
  const ends = [stop ?? []].flat().map((sequence) => (sequence === '' ? -1 : text.indexOf(sequence)))
  return text.slice(0, Math.min(text.length, ...ends.filter((end) => end >= 0)))
}

/** Applies `response_format`: a value that conforms to the schema, or an object with the answer. */
function inFormat(answer: string, format: ResponseFormat | null | undefined, question: string): string {
  if (format?.type === 'json_schema') {
    const schema: Schema = format.json_schema?.schema ?? {}
    return JSON.stringify(sample(schema, new Hints(question), new Spending()))
  }
  return format?.type === 'json_object' && !isObject(answer) ? JSON.stringify({ answer }) : answer
}

function isObject(text: string): boolean {
  try {
    return text.startsWith('{') && JSON.parse(text) !== null
  } catch {
    return false
  }
}
