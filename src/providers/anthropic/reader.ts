/**
 * Events of the Messages API → chunks of a chat. A whole message is read as the stream it would have been. Source:
 * Anthropic's API reference, Streaming messages.
 */
import { retrySame } from '../failure.ts'
import { isRecord } from '../reading/parts.ts'
import type { ChatChunk, ChunkChoice, FinishReason } from '../../wire/chat.ts'
import type { Usage } from '../../wire/usage.ts'
import { Arrangement } from './arrangement.ts'

type Fields = Record<string, unknown>

/** A block that is under way. */
type OpenBlock =
  | { readonly kind: 'text' | 'answer'; readonly place: { length: number } }
  | { readonly kind: 'unread' }
  | { readonly kind: 'call'; readonly index: number }
  | { readonly kind: 'thinking'; readonly block: Fields }

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
  /** Who can read the thinking. */
  readonly format: string
  /** The tool whose input is the answer itself. */
  readonly answerTool?: string | undefined
  /** An error of the vendor inside the stream → what to throw. */
  readonly failure: (error: unknown) => Error
}

export class MessageReader {
  /** The message has come to its end. */
  done = false
  readonly #options: ReaderOptions
  #begun = false
  #id = ''
  #model = ''
  #usage: Fields = {}
  #finished = false
  #calls = 0
  readonly #open = new Map<unknown, OpenBlock>()
  readonly #arrangement: Arrangement

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#arrangement = new Arrangement(options.format)
  }

  /** One chunk for all that arrived together, and an error only behind what came before it. */
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

  /** The connection is over. */
  end(): void {
    if (!this.#finished) throw retrySame(new Error('the vendor broke off in the middle of its answer'))
  }

  #event(event: Fields, out: ChunkChoice[]): void {
    const { type } = event
    // Kinds of events may be added at any time; what has no kind is no event.
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
        if (!this.#finished) throw retrySame(new Error('the vendor stopped without a reason'))
        this.done = true
        return
      case 'error':
        throw this.#options.failure(event['error'])
    }
  }

  /** Proxies have been seen to repeat the first event, and to splice in the beginning of another answer. */
  #begin(message: Fields): void {
    const id = stringOf(message['id'])
    if (this.#begun && this.#id !== id) {
      throw retrySame(new Error('the vendor began a second answer inside the first'))
    }
    if (this.#begun) return
    this.#begun = true
    this.#id = id
    this.#model = stringOf(message['model'])
    this.#usage = { ...fieldsOf(message['usage']) }
  }

  #openBlock(at: unknown, block: Fields, out: ChunkChoice[]): void {
    switch (block['type']) {
      case 'text': {
        const place = this.#arrangement.text()
        this.#open.set(at, { kind: 'text', place })
        return this.#text(block['text'], place, out)
      }
      case 'thinking':
      case 'redacted_thinking':
        this.#arrangement.thinking()
        this.#open.set(at, { kind: 'thinking', block: { thinking: '', signature: '', ...block } })
        return this.#thought(block['thinking'], out)
      case 'tool_use':
        return this.#openCall(at, block, out)
    }
    // The vendor's own work (searches, code, their results): neither text nor a call for the client.
    this.#open.set(at, { kind: 'unread' })
  }

  #openCall(at: unknown, { id, name, input }: Fields, out: ChunkChoice[]): void {
    const text = isRecord(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : ''
    if (name === this.#options.answerTool) {
      const place = this.#arrangement.text()
      this.#open.set(at, { kind: 'answer', place })
      return this.#text(text, place, out)
    }
    this.#arrangement.call()
    const index = this.#calls++
    this.#open.set(at, { kind: 'call', index })
    const called = { name: stringOf(name), arguments: text }
    out.push({ delta: { tool_calls: [{ index, id: stringOf(id), type: 'function', function: called }] } })
  }

  #delta(at: unknown, delta: Fields, out: ChunkChoice[]): void {
    if (!this.#open.has(at)) this.#openUnnamed(at, delta, out)
    const open = this.#open.get(at)
    switch (open?.kind) {
      case 'text':
        return this.#text(delta['text'], open.place, out)
      case 'answer':
        return this.#text(delta['partial_json'], open.place, out)
      case 'call': {
        const text = stringOf(delta['partial_json'])
        if (text !== '') out.push({ delta: { tool_calls: [{ index: open.index, function: { arguments: text } }] } })
        return
      }
      case 'thinking':
        open.block['thinking'] += stringOf(delta['thinking'])
        open.block['signature'] += stringOf(delta['signature'])
        return this.#thought(delta['thinking'], out)
    }
  }

  /** Proxies have been seen to leave out the beginning of a block. Its first delta tells what it is. */
  #openUnnamed(at: unknown, { type, partial_json: input }: Fields, out: ChunkChoice[]): void {
    if (type === 'text_delta') this.#openBlock(at, { type: 'text' }, out)
    else if (type === 'thinking_delta') this.#openBlock(at, { type: 'thinking' }, out)
    else if (type === 'input_json_delta' && input !== '') {
      throw retrySame(new Error('the vendor sent a piece of a call that it had not begun'))
    }
  }

  #text(text: unknown, place: { length: number }, out: ChunkChoice[]): void {
    if (typeof text !== 'string' || text === '') return
    place.length += text.length
    out.push({ delta: { content: text } })
  }

  #thought(text: unknown, out: ChunkChoice[]): void {
    if (typeof text === 'string' && text !== '') out.push({ delta: { reasoning_content: text } })
  }

  #closeBlock(at: unknown): void {
    const open = this.#open.get(at)
    this.#open.delete(at)
    if (open?.kind === 'thinking') this.#arrangement.add(open.block)
  }

  #finish(reason: unknown, usage: Fields, out: ChunkChoice[]): void {
    // Each is a total, and newer than what was told before, whether it is more or less.
    for (const [name, value] of Object.entries(usage)) if (value !== null) this.#usage[name] = value
    if (typeof reason !== 'string' || this.#finished) return
    this.#finished = true
    // All in one delta: readers that replace and readers that append come to the same.
    const details = this.#arrangement.details()
    if (details.length > 0) out.push({ delta: { reasoning_details: details } })
    const finish = finishes[reason] ?? 'stop'
    out.push({ delta: {}, finish_reason: finish === 'tool_calls' && this.#calls === 0 ? 'stop' : finish })
  }

  #chunk(choices: ChunkChoice[]): ChatChunk {
    return { id: this.#id, model: this.#model, choices, ...(this.#finished && { usage: usageOf(this.#usage) }) }
  }
}

/** Caches are read and written beside `input_tokens`; in OpenAI's count they are part of the prompt. */
function usageOf(raw: Fields): Usage {
  const cached = count(raw['cache_read_input_tokens'])
  const written = count(raw['cache_creation_input_tokens'])
  const prompt = count(raw['input_tokens']) + cached + written
  const completion = count(raw['output_tokens'])
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    completion_tokens_details: {
      reasoning_tokens: count(fieldsOf(raw['output_tokens_details'])['thinking_tokens']),
    },
  }
}

/** The events of a message that came whole. */
export function eventsOf(message: Readonly<Fields>): Fields[] {
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

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {}
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
