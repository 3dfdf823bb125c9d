/** Conversion of a conversation to the messages of a chat. */
import type { ChatTraits } from '../../../providers/chat-traits.ts'
import type { ChatMessage, ContentPart, ToolCall } from '../../../wire/chat.ts'
import { isSealed } from '../../envelope.ts'
import { append, StateReader } from '../../model-state.ts'
import { chatNameOf } from '../../tool-names.ts'
import type { MessagePart, TextPart } from '../reading/parts.ts'
import type { AssistantBlock, AssistantTurn, ResultTurn, Turn } from '../reading/turns.ts'

/** The messages for the vendor `maker`, which gets back only its own state. */
export function messagesOf(turns: readonly Turn[], traits: ChatTraits, maker: string): ChatMessage[] {
  const writer = new MessageList(traits, maker)
  for (const turn of turns) writer.add(turn)
  return writer.end()
}

class MessageList {
  readonly #traits: ChatTraits
  readonly #maker: string
  readonly #states = new StateReader()
  readonly #messages: ChatMessage[] = []
  #hasCalls = false
  /** The parts of one message of instructions, before all others. */
  readonly #instructions: TextPart[] = []
  /** The parts of one message of the user. */
  #user: MessagePart[] = []
  /** Parts of results that a tool message cannot contain, for the next message of the user. */
  #attached: MessagePart[] = []

  constructor(traits: ChatTraits, maker: string) {
    this.#traits = traits
    this.#maker = maker
  }

  add(turn: Turn): void {
    switch (turn.role) {
      case 'system':
        return this.#system(turn.parts)
      case 'user':
        return this.#say(turn.parts)
      case 'result':
        return this.#result(turn)
      default:
        this.#closeUser()
        this.#answer(turn)
    }
  }

  end(): ChatMessage[] {
    this.#closeUser()
    const { length } = this.#messages
    if (length === 0 && this.#instructions.length > 0)
      return [{ role: 'user', content: this.#contentOf(this.#instructions) }]
    return this.#hasCalls ? this.#messages : this.#messages.map(withoutReasoning)
  }

  #system(parts: readonly TextPart[]): void {
    const isFirst = this.#messages.length === 0 && this.#user.length === 0
    if (isFirst) for (const part of parts) this.#instructions.push(part)
    else if (this.#traits.systemAnywhere === true) {
      this.#closeUser()
      this.#messages.push({ role: 'system', content: this.#contentOf(parts) })
    } else this.#say([{ kind: 'text', text: `<system>\n${parts.map(({ text }) => text).join('\n\n')}\n</system>` }])
  }

  #say(parts: readonly MessagePart[]): void {
    for (const part of parts) this.#user.push(part)
  }

  #result({ callId, parts, failed }: ResultTurn): void {
    this.#closeInstructions()
    const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    const media = parts.filter((part) => part.kind !== 'text')
    const inside = this.#traits.richResults === true && media.every(({ kind }) => kind === 'image')
    if (media.length > 0 && !inside) {
      const text = `The content of the result of the call ${callId}:`
      this.#attached.push({ kind: 'text', text }, ...media)
      if (texts.length === 0) texts.push('See the content below.')
    }
    const text = (failed ? ['Error:', ...texts] : texts).join('\n')
    const content =
      inside && media.length > 0 ? [...(text === '' ? [] : [{ type: 'text', text }]), ...media.map(mediaPart)] : text
    this.#messages.push({ role: 'tool', tool_call_id: callId, content })
  }

  #answer({ blocks }: AssistantTurn): void {
    let text = ''
    const calls: ToolCall[] = []
    const fields: Record<string, unknown> = {}
    const callFields = new Map<string, object>()
    for (const block of blocks) {
      if (block.kind === 'text') text += block.text
      else if (block.kind === 'call') {
        const called = { name: chatNameOf(block.name, undefined), arguments: JSON.stringify(block.input) }
        calls.push({ id: block.id, type: 'function', function: called })
      } else this.#restore(block, fields, callFields)
    }
    if (text.trim() === '') text = ''
    if (text === '' && calls.length === 0) return
    this.#closeInstructions()
    this.#hasCalls ||= calls.length > 0
    this.#messages.push({
      role: 'assistant',
      content: text === '' ? null : text,
      ...fields,
      ...(calls.length > 0 && { tool_calls: calls.map((call) => ({ ...call, ...callFields.get(call.id) })) }),
    })
  }

  /** Adds what a thinking block contains for this vendor. */
  #restore(
    block: Extract<AssistantBlock, { kind: 'thinking' | 'redacted' }>,
    fields: Record<string, unknown>,
    callFields: Map<string, object>,
  ): void {
    const signature = block.kind === 'thinking' ? block.signature : block.data
    const own = this.#states.read(signature, this.#maker)
    if (own !== undefined) {
      const { reasoning_content: standard, reasoning, ...state } = own.message ?? {}
      append(fields, state)
      for (const [id, more] of Object.entries(own.calls ?? {})) callFields.set(id, more)
      const name = standard === undefined && reasoning !== undefined ? 'reasoning' : 'reasoning_content'
      const text = block.kind === 'thinking' ? block.text : ''
      append(fields, { [name]: standard || reasoning || text })
    } else if (this.#maker === 'anthropic' && signature !== '' && !isSealed(signature)) {
      append(fields, { reasoning_details: [claudeDetail(block, signature)] })
    } else if (this.#traits.reasoning === true && block.kind === 'thinking' && block.text !== '') {
      append(fields, { reasoning_content: block.text })
    }
  }

  #closeInstructions(): void {
    if (this.#messages.length > 0 || this.#instructions.length === 0) return
    this.#messages.push({ role: 'system', content: this.#contentOf(this.#instructions) })
  }

  #closeUser(): void {
    const parts = [...this.#attached, ...this.#user]
    this.#attached = []
    this.#user = []
    if (parts.length === 0) return
    this.#closeInstructions()
    if (this.#traits.userAfterResults === false && this.#messages.at(-1)?.role === 'tool') {
      this.#messages.push({ role: 'assistant', content: 'I have the results.' })
    }
    this.#messages.push({ role: 'user', content: this.#contentOf(parts) })
  }

  /** Text as a string, because not every model supports parts. */
  #contentOf(parts: readonly MessagePart[]): string | ContentPart[] {
    const marked = this.#traits.cacheControl === true && parts.some(({ cache }) => cache !== undefined)
    if (!marked && parts.every((part) => part.kind === 'text')) return parts.map(({ text }) => text).join('\n\n')
    return parts.map((part) => ({
      ...chatPart(part),
      ...(marked && part.cache !== undefined && { cache_control: part.cache }),
    }))
  }
}

function chatPart(part: MessagePart): ContentPart {
  return part.kind === 'text' ? { type: 'text', text: part.text } : mediaPart(part)
}

function mediaPart({ kind, url, filename }: Exclude<MessagePart, TextPart>): ContentPart {
  if (kind === 'image') return { type: 'image_url', image_url: { url } }
  return { type: 'file', file: { filename, file_data: url } }
}

/** For a conversation without tool calls: models expect their reasoning back only where they use tools. */
function withoutReasoning(message: ChatMessage): ChatMessage {
  if (message['reasoning_content'] === undefined && message['reasoning'] === undefined) return message
  const { reasoning_content: _, reasoning: __, ...rest } = message
  return rest
}

/** A thinking block of Claude, as its provider keeps them in chats. */
function claudeDetail(block: Extract<AssistantBlock, { kind: 'thinking' | 'redacted' }>, state: string): object {
  const format = 'anthropic-claude-v1'
  if (block.kind === 'redacted') return { type: 'reasoning.encrypted', data: state, format }
  return { type: 'reasoning.text', text: block.text, signature: state, format }
}
