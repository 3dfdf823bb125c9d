/** Extracts from the messages what the rules of the demo model need. */
import type { ChatMessage, ContentPart } from '../../wire/chat.ts'
import { budget } from './budget.ts'

export interface Conversation {
  /** The text of the last user message. */
  readonly question: string
  /** Earlier texts of the user and of tools, oldest first. */
  readonly earlier: readonly string[]
  /** The texts of all system and developer messages. */
  readonly instructions: string
  /** The images, audio and files of the last user message. */
  readonly attachments: readonly ContentPart[]
  /** The tool results after the question. */
  readonly results: readonly ToolResult[]
  /** The latest tool results before the question. */
  readonly earlierResults: readonly ToolResult[]
  /** The names of the tools called after the question. */
  readonly called: ReadonlySet<string>
}

export interface ToolResult {
  readonly tool: string
  readonly text: string
}

export function conversationOf(messages: readonly ChatMessage[]): Conversation {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const question = messages[last]?.content
  const before = messages.slice(0, Math.max(last, 0)).slice(-budget.messages)
  const since = messages.slice(last + 1)
  return {
    question: textOf(question),
    earlier: textsOf(
      before.filter((message) => message.role === 'user' || isResult(message)),
      budget.earlierLength,
    ),
    instructions: textsOf(messages.filter(isInstruction), budget.instructionsLength).join('\n'),
    attachments: Array.isArray(question) ? question.filter(({ type }) => type !== 'text') : [],
    results: resultsIn(since),
    earlierResults: resultsIn(before),
    called: new Set(since.flatMap(callsOf).map(([, name]) => name)),
  }
}

/** The texts of the latest messages that fit into `length` characters. */
function textsOf(messages: readonly ChatMessage[], length: number): string[] {
  let remaining = length
  const texts = messages.slice(-budget.messages).map(({ content }) => textOf(content))
  return texts
    .toReversed()
    .filter((text) => (remaining -= text.length) >= 0)
    .toReversed()
}

function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content.slice(0, budget.messageLength)
  let text = ''
  for (const part of content ?? []) {
    if (!part.text) continue
    text += `${text === '' ? '' : '\n'}${part.text.slice(0, budget.messageLength)}`
    if (text.length >= budget.messageLength) break
  }
  return text.slice(0, budget.messageLength)
}

function resultsIn(messages: readonly ChatMessage[]): ToolResult[] {
  const names = new Map(messages.flatMap(callsOf))
  const results = messages.filter(isResult).slice(-budget.messages)
  return results.map((message) => ({
    tool: names.get(message.tool_call_id ?? '') ?? message.name ?? 'The tool',
    text: textOf(message.content),
  }))
}

function callsOf({ tool_calls: calls, function_call: legacy }: ChatMessage): [id: string, name: string][] {
  const named = (calls ?? []).map((call): [string, string] => {
    const custom = call['custom'] as { name?: string } | undefined
    return [call.id, call.function?.name ?? custom?.name ?? 'The tool']
  })
  const called = legacy as { readonly name: string } | null | undefined
  return called ? [...named, ['', called.name]] : named
}

function isInstruction({ role }: ChatMessage): boolean {
  return role === 'system' || role === 'developer'
}

function isResult({ role }: ChatMessage): boolean {
  return role === 'tool' || role === 'function'
}
