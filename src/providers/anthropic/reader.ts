/** Translates events of the Messages API to chat chunks. Source: Anthropic's API reference, Streaming messages. */
import { unreadable } from '../failure.ts'
import type { ChatChunk, ChunkChoice, FinishReason } from '../../wire/chat.ts'
import { usageOfMessage } from '../../wire/message-usage.ts'
import { BlockOrder } from './block-order.ts'
import { type Fields, fieldsOf, textOf, isRecord } from '../../wire/json.ts'

/** A block that has started and not ended. */
type OpenBlock =
  | { readonly kind: 'text' | 'answer'; readonly block: { length: number } }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'call'; readonly index: number }
  | { readonly kind: 'thinking'; readonly block: Record<string, unknown> }

const finishes: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

export interface ReaderOptions {
  /** See `formatOf`. */
  readonly format: string
  /** The tool whose input is the structured response. Default: none. */
  readonly answerTool?: string | undefined
  /** Converts an error inside the stream to the error to throw. */
  readonly failure: (error: unknown) => Error
}

export class MessageReader {
  /** True after the last event of the message. */
  done = false
  readonly #options: ReaderOptions
  #begun = false
  #id = ''
  #model = ''
  #usage: Record<string, unknown> = {}
  #finished = false
  #hasToldInput = false
  #calls = 0
  readonly #open = new Map<unknown, OpenBlock>()
  readonly #blockOrder: BlockOrder

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#blockOrder = new BlockOrder(options.format)
  }

  /** Emits one chunk for all events that arrived together, and then throws the first error among them. */
  *push(events: readonly unknown[]): Generator<ChatChunk> {
    const choices: ChunkChoice[] = []
    let failure: unknown
    try {
      for (const event of events) {
        if (event instanceof Error) throw event
        if (isRecord(event)) this.#event(event, choices)
        if (this.done) break
      }
    } catch (error) {
      failure = error
    }
    if (choices.length > 0) yield this.#chunk(choices)
    if (failure !== undefined) throw failure
  }

  /** The connection has ended. Throws if the message is not complete. */
  end(): void {
    if (!this.#finished) throw unreadable("the vendor's stream ended before the response was complete")
  }

  #event(event: Fields, out: ChunkChoice[]): void {
    const { type } = event
    // Unknown types are ignored, because the vendor adds new ones. An object without a type is an error.
    if (typeof type !== 'string') throw this.#options.failure(event['error'] ?? event)
    switch (type) {
      case 'message_start':
        return this.#begin(fieldsOf(event['message']))
      case 'content_block_start':
        return this.#openBlock(event['index'], fieldsOf(event['content_block']), out)
      case 'content_block_delta':
        return this.#delta(event['index'], fieldsOf(event['delta']), out)
      case 'content_block_stop':
        return this.#closeBlock(event['index'])
      case 'message_delta':
        return this.#finish(fieldsOf(event['delta'])['stop_reason'], fieldsOf(event['usage']), out)
      case 'message_stop':
        if (!this.#finished) throw unreadable("the vendor's message ended without a stop reason")
        this.done = true
        return
      case 'error':
        throw this.#options.failure(event['error'])
    }
  }

  /** Some proxies repeat the first event, or insert that of another response. */
  #begin(message: Fields): void {
    const id = textOf(message['id'])
    if (this.#begun && this.#id !== id) {
      throw unreadable('the vendor started a second message inside the first')
    }
    if (this.#begun) return
    this.#begun = true
    this.#id = id
    this.#model = textOf(message['model'])
    this.#usage = { ...fieldsOf(message['usage']) }
  }

  #openBlock(at: unknown, block: Fields, out: ChunkChoice[]): void {
    switch (block['type']) {
      case 'text': {
        const text = this.#blockOrder.text()
        this.#open.set(at, { kind: 'text', block: text })
        return this.#text(block['text'], text, out)
      }
      case 'thinking':
      case 'redacted_thinking':
        this.#blockOrder.thinking()
        this.#open.set(at, { kind: 'thinking', block: { thinking: '', signature: '', ...block } })
        return this.#reasoning(block['thinking'], out)
      case 'tool_use':
        return this.#openCall(at, block, out)
    }
    // Results of the vendor's built-in tools (searches, code): not for the client.
    this.#open.set(at, { kind: 'ignored' })
  }

  #openCall(at: unknown, { id, name, input }: Fields, out: ChunkChoice[]): void {
    const text = isRecord(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : ''
    if (name === this.#options.answerTool) {
      const block = this.#blockOrder.text()
      this.#open.set(at, { kind: 'answer', block })
      return this.#text(text, block, out)
    }
    this.#blockOrder.call()
    const index = this.#calls++
    this.#open.set(at, { kind: 'call', index })
    const called = { name: textOf(name), arguments: text }
    out.push({ delta: { tool_calls: [{ index, id: textOf(id), type: 'function', function: called }] } })
  }

  #delta(at: unknown, delta: Fields, out: ChunkChoice[]): void {
    if (!this.#open.has(at)) this.#openUnnamed(at, delta, out)
    const open = this.#open.get(at)
    switch (open?.kind) {
      case 'text':
        return this.#text(delta['text'], open.block, out)
      case 'answer':
        return this.#text(delta['partial_json'], open.block, out)
      case 'call': {
        const text = textOf(delta['partial_json'])
        if (text !== '') out.push({ delta: { tool_calls: [{ index: open.index, function: { arguments: text } }] } })
        return
      }
      case 'thinking':
        open.block['thinking'] += textOf(delta['thinking'])
        open.block['signature'] += textOf(delta['signature'])
        return this.#reasoning(delta['thinking'], out)
    }
  }

  /** Some proxies omit the start of a block. Its first delta reveals the type. */
  #openUnnamed(at: unknown, { type, partial_json: input }: Fields, out: ChunkChoice[]): void {
    if (type === 'text_delta') this.#openBlock(at, { type: 'text' }, out)
    else if (type === 'thinking_delta') this.#openBlock(at, { type: 'thinking' }, out)
    else if (type === 'input_json_delta' && input !== '') {
      throw unreadable('the vendor sent the input of a tool call before its name')
    }
  }

  #text(text: unknown, block: { length: number }, out: ChunkChoice[]): void {
    if (typeof text !== 'string' || text === '') return
    block.length += text.length
    out.push({ delta: { content: text } })
  }

  #reasoning(text: unknown, out: ChunkChoice[]): void {
    if (typeof text === 'string' && text !== '') out.push({ delta: { reasoning_content: text } })
  }

  #closeBlock(at: unknown): void {
    const open = this.#open.get(at)
    this.#open.delete(at)
    if (open?.kind === 'thinking') this.#blockOrder.add(open.block)
  }

  #finish(reason: unknown, usage: Fields, out: ChunkChoice[]): void {
    // Each count is a total that replaces the earlier one.
    for (const [name, value] of Object.entries(usage)) if (value !== null) this.#usage[name] = value
    if (typeof reason !== 'string' || this.#finished) return
    this.#finished = true
    // In one delta, because some clients append the values of several deltas and others replace them.
    const details = this.#blockOrder.details()
    if (details.length > 0) out.push({ delta: { reasoning_details: details } })
    const finish = finishes[reason] ?? 'stop'
    out.push({ delta: {}, finish_reason: finish === 'tool_calls' && this.#calls === 0 ? 'stop' : finish })
  }

  #chunk(choices: ChunkChoice[]): ChatChunk {
    const head = { id: this.#id, model: this.#model, choices }
    // With the first chunk the tokens of the prompt, which are charged if the client disconnects.
    if (this.#hasToldInput && !this.#finished) return head
    this.#hasToldInput = true
    return typeof this.#usage['input_tokens'] === 'number' ? { ...head, usage: usageOfMessage(this.#usage) } : head
  }
}

/** Converts a non-streaming message to the events of the equivalent stream. */
export function eventsOf(message: Fields): Fields[] {
  const { content, stop_reason: reason, usage } = message
  const blocks = Array.isArray(content) ? content : []
  return [
    { type: 'message_start', message },
    ...blocks.flatMap((block: unknown, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: reason }, usage },
    { type: 'message_stop' },
  ]
}
