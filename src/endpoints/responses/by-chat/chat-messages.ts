/** Conversion of items to chat messages. */
import { invalid } from '../../../errors.ts'
import { isRecord } from '../../../wire/json.ts'
import type { ChatMessage, ContentPart, ToolCall } from '../../../wire/chat.ts'
import type { InputItem, ResponsePart } from '../../../wire/responses.ts'
import type { ResponseConversation } from '../history.ts'
import { kindOf } from '../items.ts'
import { compactedByOther, summaryText } from '../compaction-summary.ts'
import { isSealed } from '../../envelope.ts'
import { append, StateReader } from '../../model-state.ts'
import { chatNameOf } from '../../tool-names.ts'
import { chatPart } from './parts.ts'
import { customField } from './tools.ts'

/**
 * The messages of a conversation for the vendor `maker`, which gets back only its own state.
 * `takesReasoning`: whether it also gets the readable reasoning of others. Throws 400.
 */
export function messagesOf(
  conversation: ResponseConversation,
  instructions: unknown,
  maker: string,
  takesReasoning: boolean,
): ChatMessage[] {
  const writer = new MessageWriter(maker, takesReasoning)
  if (typeof instructions === 'string' && instructions !== '') writer.say('system', instructions)
  for (const [index, item] of conversation.items.entries()) {
    // For a stored item, an index would mean nothing to the client.
    const place = index < conversation.earlier ? 'previous_response_id' : `input[${index - conversation.earlier}]`
    writer.add(item, place)
  }
  return writer.end()
}

/** One turn of the assistant, which in a chat is one message. */
interface Turn {
  text: string
  readonly calls: Map<string, ToolCall>
  /** Further fields of the message that the model expects back. */
  readonly fields: Record<string, unknown>
  /** Further fields of calls, which may arrive before the calls, by the id of the call. */
  readonly callFields: Map<string, object>
  /** Whether there was reasoning since the last text; then the next text belongs to the same message. */
  reasoned: boolean
  /** Whether the turn is complete. */
  ended: boolean
}

class MessageWriter {
  readonly #maker: string
  readonly #takesReasoning: boolean
  readonly #states = new StateReader()
  readonly #messages: ChatMessage[] = []
  #turn: Turn | undefined
  #hasCalls = false
  /** The ids of calls without an output so far. */
  readonly #unanswered = new Set<string>()
  /** Images and files in tool outputs, which a chat allows only in user messages. */
  #attachments: ContentPart[] = []

  constructor(maker: string, takesReasoning: boolean) {
    this.#maker = maker
    this.#takesReasoning = takesReasoning
  }

  add(item: InputItem, place: string): void {
    switch (kindOf(item)) {
      case 'message':
        return this.#message(item, place)
      case 'reasoning':
        return this.#reasoning(item)
      case 'function_call':
        return this.#call(item, item.arguments ?? '')
      case 'custom_tool_call':
        return this.#call(item, JSON.stringify({ [customField]: item.input }))
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#output(item, place)
      case 'compaction':
        return this.#compaction(item, place)
      // Calls of tools that ran at a vendor, and unknown kinds, have no equivalent in a chat.
    }
  }

  say(role: 'system' | 'user', content: ChatMessage['content']): void {
    this.#close()
    this.#messages.push({ role, content: content ?? '' })
  }

  end(): ChatMessage[] {
    this.#close()
    return this.#hasCalls ? this.#messages : this.#messages.map(withoutReasoning)
  }

  #message({ role, content = [] }: InputItem, place: string): void {
    const parts =
      typeof content === 'string'
        ? [{ type: 'text', text: content }]
        : (content ?? []).map((part, index) => chatPart(part, `${place}.content[${index}]`))
    if (role !== 'assistant') return this.say(role === 'user' ? 'user' : 'system', contentOf(parts))
    // Text after a call or after reasoning belongs to the same turn; text after text was a separate message.
    const { text = '', calls, reasoned = false, ended = false } = this.#turn ?? {}
    if (calls?.size === 0 && text !== '' && (ended || !reasoned)) this.#close()
    const turn = this.#open()
    turn.text += textIn(parts)
    turn.reasoned = false
  }

  #compaction(item: InputItem, place: string): void {
    const text = summaryText(item)
    if (text === undefined) throw compactedByOther(place)
    this.say('user', text)
  }

  #reasoning({ encrypted_content: encrypted, content, summary }: InputItem): void {
    if (this.#turn?.ended === true && this.#turn.calls.size === 0) this.#close()
    const turn = this.#open()
    const own = this.#states.read(encrypted, this.#maker)
    if (own === undefined) {
      const shown = this.#takesReasoning || !isSealed(encrypted) ? readable(content) : ''
      const text = shown === '' && this.#takesReasoning ? readable(summary) : shown
      return append(turn.fields, text === '' ? {} : { reasoning_content: text })
    }
    append(turn.fields, own.message ?? {})
    for (const [id, fields] of Object.entries(own.calls ?? {})) turn.callFields.set(id, fields)
    turn.reasoned = true
    turn.ended = own.last === true
  }

  #call({ call_id: id = '', name = '', namespace }: InputItem, text: string): void {
    const called = { name: chatNameOf(name, namespace), arguments: text }
    this.#open().calls.set(id, { id, type: 'function', function: called })
  }

  #output({ call_id: id = '', output = '' }: InputItem, place: string): void {
    this.#closeTurn()
    if (!this.#unanswered.delete(id)) {
      const param = `${place}.call_id`
      throw invalid(`No tool call found for function call output with call_id ${id.slice(0, 128)}.`, param)
    }
    const parts =
      typeof output === 'string' ? [] : output.map((part, index) => chatPart(part, `${place}.output[${index}]`))
    const attached = parts.filter(({ type }) => type !== 'text')
    const text = typeof output === 'string' ? output : textIn(parts, '\n')
    this.#attachments.push(...attached)
    const content = text === '' && attached.length > 0 ? 'See the attached content below.' : text
    this.#messages.push({ role: 'tool', tool_call_id: id, content })
  }

  #open(): Turn {
    if (this.#turn === undefined) {
      this.#closeOutputs()
      this.#turn = { text: '', calls: new Map(), fields: {}, callFields: new Map(), reasoned: false, ended: false }
    }
    return this.#turn
  }

  #close(): void {
    this.#closeTurn()
    this.#closeOutputs()
  }

  #closeTurn(): void {
    const turn = this.#turn
    this.#turn = undefined
    if (turn === undefined) return
    const { text, calls, fields, callFields } = turn
    if (text === '' && calls.size === 0) return
    for (const id of calls.keys()) this.#unanswered.add(id)
    this.#hasCalls ||= calls.size > 0
    this.#messages.push({
      role: 'assistant',
      content: text === '' ? null : text,
      ...fields,
      ...(calls.size > 0 && { tool_calls: [...calls].map(([id, call]) => ({ ...call, ...callFields.get(id) })) }),
    })
  }

  #closeOutputs(): void {
    const [open] = this.#unanswered
    if (open !== undefined) {
      throw invalid(`No tool output found for function call ${open.slice(0, 128)}.`, 'input')
    }
    if (this.#attachments.length > 0) this.#messages.push({ role: 'user', content: this.#attachments })
    this.#attachments = []
  }
}

/** For a conversation without tool calls: models expect their reasoning back only where they use tools. */
function withoutReasoning(message: ChatMessage): ChatMessage {
  const { reasoning_content: _, reasoning: __, ...rest } = message
  return rest
}

/** A single text as a string, because not every model supports parts. */
function contentOf(parts: readonly ContentPart[]): ChatMessage['content'] {
  const [first] = parts
  return parts.length === 1 && first?.type === 'text' ? (first.text ?? '') : parts
}

function readable(parts: unknown): string {
  return Array.isArray(parts) ? textIn((parts as unknown[]).filter(isRecord) as ContentPart[]) : ''
}

function textIn(parts: readonly (ContentPart | ResponsePart)[], between = ''): string {
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join(between)
}
