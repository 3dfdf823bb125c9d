/** What the demo model takes note of in the messages. */
import type { ChatMessage, ContentPart } from '../../wire/chat.ts'

export interface Conversation {
  /** What the user said last. */
  readonly question: string
  /** What the user said before, oldest first. */
  readonly earlier: readonly string[]
  /** What the system and developer messages say. */
  readonly instructions: string
  /** Images, sounds and files that came with the question. */
  readonly attachments: readonly ContentPart[]
  /** What tools have answered since the question. */
  readonly results: readonly ToolResult[]
  /** The names of the tools called since the question. */
  readonly called: ReadonlySet<string>
}

export interface ToolResult {
  readonly tool: string
  readonly text: string
}

/** The model reads no further into a message, and no more messages, so that no text can keep it busy for long. */
const readLength = 8_000
const remembered = 100

export function conversationOf(messages: readonly ChatMessage[]): Conversation {
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const question = messages[asked]?.content
  const since = messages.slice(asked + 1)
  const names = new Map(since.flatMap(callsOf))
  return {
    question: textOf(question),
    earlier: textsOf(messages.slice(0, Math.max(asked, 0)).filter(isUser)),
    instructions: textsOf(messages.filter(isInstruction)).join('\n'),
    attachments: Array.isArray(question) ? question.filter(({ type }) => type !== 'text') : [],
    results: since.filter(isResult).map((message) => ({
      tool: names.get(message.tool_call_id ?? '') ?? message.name ?? 'The tool',
      text: textOf(message.content),
    })),
    called: new Set(names.values()),
  }
}

function textsOf(messages: readonly ChatMessage[]): string[] {
  return messages.slice(-remembered).map(({ content }) => textOf(content))
}

function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content.slice(0, readLength)
  const texts = (content ?? []).map(({ text }) => (typeof text === 'string' ? text.slice(0, readLength) : ''))
  return texts
    .filter((text) => text !== '')
    .join('\n')
    .slice(0, readLength)
}

function callsOf({ tool_calls: calls }: ChatMessage): [id: string, name: string][] {
  return (calls ?? []).map((call) => {
    const custom = call['custom'] as { name?: string } | undefined
    return [call.id, call.function?.name ?? custom?.name ?? 'The tool']
  })
}

function isUser({ role }: ChatMessage): boolean {
  return role === 'user'
}

function isInstruction({ role }: ChatMessage): boolean {
  return role === 'system' || role === 'developer'
}

function isResult({ role }: ChatMessage): boolean {
  return role === 'tool' || role === 'function'
}
