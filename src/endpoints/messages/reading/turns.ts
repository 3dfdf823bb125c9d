/**
 * Reads a conversation for vendors whose format is not Anthropic's. Such vendors want the results of all calls directly
 * after the assistant's turn, so the turns are put into that order, and calls and results without each other are repaired.
 */
import { invalid } from '../../../errors.ts'
import type { MessageBlock, MessageParam, MessageTool } from '../../../wire/messages.ts'
import { addPart, partsOf, type MessagePart, type TextPart } from './parts.ts'
import { textOf, fieldsOf } from '../../../wire/json.ts'

export type Turn = SystemTurn | UserTurn | AssistantTurn | ResultTurn

/** Instructions. They may stand anywhere in the conversation. */
export interface SystemTurn {
  readonly role: 'system'
  readonly parts: readonly TextPart[]
}

export interface UserTurn {
  readonly role: 'user'
  readonly parts: MessagePart[]
}

export interface AssistantTurn {
  readonly role: 'assistant'
  /** In the order of the answer. */
  readonly blocks: AssistantBlock[]
}

/** The result of one call of the assistant's turn before. */
export interface ResultTurn {
  readonly role: 'result'
  readonly callId: string
  readonly parts: readonly MessagePart[]
  readonly failed: boolean
}

export type AssistantBlock =
  | { readonly kind: 'text'; readonly text: string; readonly cache?: unknown }
  | { readonly kind: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly kind: 'redacted'; readonly data: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: object }

/** A conversation that was read. */
export interface MessageConversation {
  readonly turns: readonly Turn[]
  /** Tools that a system message in the conversation adds to those of the request. */
  readonly tools: readonly MessageTool[]
}

/** Reads `system` and `messages`. Throws 400 for blocks without a required field. */
export function conversationOf(system: unknown, messages: readonly MessageParam[]): MessageConversation {
  const reader = new TurnReader()
  reader.instruct(system, 'system')
  for (const [index, message] of messages.entries()) reader.add(message, `messages[${index}]`)
  const conversation = reader.end()
  if (conversation.turns.length === 0) throw invalid('"messages" must have content.', 'messages')
  return conversation
}

class TurnReader {
  readonly #turns: Turn[] = []
  readonly #tools: MessageTool[] = []
  #assistant: AssistantTurn | undefined
  /** The ids of calls of the assistant's latest turn that have no result so far. */
  readonly #unanswered = new Set<string>()
  /** The turns since the assistant's latest one, except for the results of its calls. */
  #later: (SystemTurn | UserTurn)[] = []

  add({ role, content }: MessageParam, place: string): void {
    const where = `${place}.content`
    if (role === 'system') return this.instruct(content, where)
    if (role === 'assistant') return this.#answer(content, where)
    if (typeof content === 'string') return this.#say(partsOf(content, where))
    for (const [index, block] of content.entries()) this.#userBlock(block, `${where}[${index}]`)
  }

  instruct(content: unknown, place: string): void {
    const blocks = Array.isArray(content) ? (content as unknown[]) : undefined
    const shown = blocks?.filter((block) => !this.#addsTool(block)) ?? content
    const parts = partsOf(shown, place).filter((part) => part.kind === 'text')
    if (parts.length > 0) this.#later.push({ role: 'system', parts })
  }

  end(): MessageConversation {
    this.#flush()
    return { turns: this.#turns, tools: this.#tools }
  }

  /** Whether a block changes the tools instead of containing text. Removed tools stay: calls of them may be in the history. */
  #addsTool(block: unknown): boolean {
    const { type, tool } = Object(block) as { type?: unknown; tool?: unknown }
    if (type !== 'tool_addition') return type === 'tool_removal'
    const { definition } = Object(tool) as { definition?: unknown }
    if (typeof definition === 'object' && definition !== null) this.#tools.push(definition as MessageTool)
    return true
  }

  #userBlock(block: MessageBlock, place: string): void {
    if (block.type !== 'tool_result') {
      const parts: MessagePart[] = []
      addPart(parts, block, place)
      return this.#say(parts)
    }
    const { tool_use_id: callId, content, is_error: failed } = block
    if (typeof callId !== 'string') throw invalid(`"${place}.tool_use_id" must be a string.`, `${place}.tool_use_id`)
    const parts = partsOf(content, `${place}.content`)
    if (this.#unanswered.delete(callId)) {
      this.#turns.push({ role: 'result', callId, parts, failed: failed === true })
    } else this.#say([{ kind: 'text', text: 'The result of an earlier tool call:' }, ...parts])
  }

  #say(parts: readonly MessagePart[]): void {
    if (parts.length === 0) return
    const last = this.#later.at(-1)
    if (last?.role !== 'user') this.#later.push({ role: 'user', parts: [...parts] })
    else for (const part of parts) last.parts.push(part)
  }

  #answer(content: MessageParam['content'], place: string): void {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    for (const [index, block] of blocks.entries()) {
      if (block.type === 'compaction') {
        if (typeof block.content === 'string') {
          this.#say([{ kind: 'text', text: `A summary of the conversation so far:\n\n${block.content}` }])
        }
        continue
      }
      const read = assistantBlock(block, `${place}[${index}]`)
      if (read === undefined) continue
      const turn = this.#open()
      if (read.kind === 'call') {
        const param = `${place}[${index}].id`
        if (this.#unanswered.has(read.id)) throw invalid(`"${param}" must be unique.`, param)
        this.#unanswered.add(read.id)
      }
      turn.blocks.push(read)
    }
  }

  /** The assistant's turn: the same for messages that directly follow each other. */
  #open(): AssistantTurn {
    if (this.#assistant !== undefined && this.#later.length === 0 && this.#turns.at(-1) === this.#assistant) {
      return this.#assistant
    }
    this.#flush()
    this.#assistant = { role: 'assistant', blocks: [] }
    this.#turns.push(this.#assistant)
    return this.#assistant
  }

  /** Ends what follows the assistant's turn: the results come first. */
  #flush(): void {
    for (const callId of this.#unanswered) {
      this.#turns.push({
        role: 'result',
        callId,
        parts: [{ kind: 'text', text: 'The call was not carried out.' }],
        failed: true,
      })
    }
    this.#unanswered.clear()
    for (const turn of this.#later) this.#turns.push(turn)
    this.#later = []
  }
}

/** Undefined for what other models cannot read: the calls and results of tools that ran at the vendor. */
function assistantBlock(block: MessageBlock, place: string): AssistantBlock | undefined {
  const { type, text, thinking, signature, data, id, name, input, cache_control: cache } = block
  switch (type) {
    case 'text':
      if (typeof text !== 'string') throw invalid(`"${place}.text" must be a string.`, `${place}.text`)
      if (text === '') return undefined
      return { kind: 'text', text, ...(typeof cache === 'object' && cache !== null && { cache }) }
    case 'thinking':
      return { kind: 'thinking', text: textOf(thinking), signature: textOf(signature) }
    case 'redacted_thinking':
      return { kind: 'redacted', data: textOf(data) }
    case 'tool_use':
      if (typeof id !== 'string') throw invalid(`"${place}.id" must be a string.`, `${place}.id`)
      if (typeof name !== 'string') throw invalid(`"${place}.name" must be a string.`, `${place}.name`)
      return { kind: 'call', id, name, input: fieldsOf(input) }
    default:
      return undefined
  }
}
