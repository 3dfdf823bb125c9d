/** A conversation of items → the messages of a chat. */
import { invalid } from '../../../errors.ts'
import type { ChatMessage, ContentPart, ToolCall } from '../../../wire/chat.ts'
import type { InputItem, ResponsePart } from '../../../wire/responses.ts'
import { isSealed } from '../../envelope.ts'
import type { Conversation } from '../history.ts'
import { kindOf } from '../items.ts'
import { recalled, unreadableSummary } from '../summary.ts'
import { continued, unpack } from './opaque.ts'
import { chatPart } from './parts.ts'
import { chatNameOf, customField } from './tools.ts'

/** `maker` is the vendor that will read them: it alone gets back what it made. */
export function messagesOf(conversation: Conversation, instructions: unknown, maker: string): ChatMessage[] {
  const writer = new MessageWriter(maker)
  if (typeof instructions === 'string' && instructions !== '') writer.say('system', instructions)
  for (const [index, item] of conversation.items.entries()) {
    // What is kept was checked when it came in; a place in it means nothing to the client.
    const place = index < conversation.earlier ? 'previous_response_id' : `input[${index - conversation.earlier}]`
    writer.add(item, place)
  }
  return writer.end()
}

/** What the assistant did in one turn: a chat has it in one message. */
interface Turn {
  text: string
  readonly calls: Map<string, ToolCall>
  /** What the model needs to see again. */
  readonly carried: Record<string, unknown>
  /** Fields of calls, which may come before them, by the id of the call. */
  readonly callFields: Map<string, object>
  /** The model thought since the last text: the next text is of the same message. */
  thought: boolean
  /** The model said all of it. */
  ended: boolean
}

class MessageWriter {
  readonly #maker: string
  readonly #messages: ChatMessage[] = []
  #turn: Turn | undefined
  /** Calls whose output has not come yet. */
  readonly #unanswered = new Set<string>()
  /** Images and files that tools gave: a chat takes them from the user only. */
  #shown: ContentPart[] = []

  constructor(maker: string) {
    this.#maker = maker
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
        return this.#recall(item, place)
      // What tools did that ran at a vendor, and kinds nobody here knows: this model has no part in them.
    }
  }

  say(role: 'system' | 'user', content: ChatMessage['content']): void {
    this.#close()
    this.#messages.push({ role, content: content ?? '' })
  }

  end(): ChatMessage[] {
    this.#close()
    return this.#messages
  }

  #message({ role, content = [] }: InputItem, place: string): void {
    const parts =
      typeof content === 'string'
        ? [{ type: 'text', text: content }]
        : (content ?? []).map((part, index) => chatPart(part, `${place}.content[${index}]`))
    if (role !== 'assistant') return this.say(role === 'user' ? 'user' : 'system', contentOf(parts))
    // Text after a call, or after a thought, belongs to the same turn; text after text was a message of its own.
    const { text = '', calls, thought = false, ended = false } = this.#turn ?? {}
    if (calls?.size === 0 && text !== '' && (ended || !thought)) this.#close()
    const turn = this.#open()
    turn.text += textIn(parts)
    turn.thought = false
  }

  #recall(item: InputItem, place: string): void {
    const text = recalled(item)
    if (text === undefined) throw unreadableSummary(place)
    this.say('user', text)
  }

  #reasoning({ encrypted_content: opaque, content }: InputItem): void {
    if (this.#turn?.ended === true && this.#turn.calls.size === 0) this.#close()
    const turn = this.#open()
    const own = unpack(opaque, this.#maker)
    if (own === undefined) {
      if (isSealed(opaque) || !Array.isArray(content)) return
      return continued(turn.carried, { reasoning_content: textIn(content as ContentPart[]) })
    }
    continued(turn.carried, own.message ?? {})
    for (const [id, fields] of Object.entries(own.calls ?? {})) turn.callFields.set(id, fields)
    turn.thought = true
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
    this.#shown.push(...attached)
    const content = text === '' && attached.length > 0 ? 'See the attached content below.' : text
    this.#messages.push({ role: 'tool', tool_call_id: id, content })
  }

  #open(): Turn {
    if (this.#turn === undefined) {
      this.#closeOutputs()
      this.#turn = { text: '', calls: new Map(), carried: {}, callFields: new Map(), thought: false, ended: false }
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
    const { text, calls, carried, callFields } = turn
    if (text === '' && calls.size === 0) return
    for (const id of calls.keys()) this.#unanswered.add(id)
    this.#messages.push({
      role: 'assistant',
      content: text === '' ? null : text,
      ...fieldsFor(carried, calls.size > 0),
      ...(calls.size > 0 && { tool_calls: [...calls].map(([id, call]) => ({ ...call, ...callFields.get(id) })) }),
    })
  }

  #closeOutputs(): void {
    const [open] = this.#unanswered
    if (open !== undefined) {
      throw invalid(`No tool output found for function call ${open.slice(0, 128)}.`, 'input')
    }
    if (this.#shown.length > 0) this.#messages.push({ role: 'user', content: this.#shown })
    this.#shown = []
  }
}

/** Models want to see what they thought while they use tools, and not afterwards. */
function fieldsFor(carried: Record<string, unknown>, calls: boolean): Record<string, unknown> {
  if (calls) return carried
  const { reasoning_content: _, reasoning: __, ...rest } = carried
  return rest
}

/** One text is a string: not every model takes parts. */
function contentOf(parts: readonly ContentPart[]): ChatMessage['content'] {
  const [first] = parts
  return parts.length === 1 && first?.type === 'text' ? (first.text ?? '') : parts
}

function textIn(parts: readonly (ContentPart | ResponsePart)[], between = ''): string {
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join(between)
}
