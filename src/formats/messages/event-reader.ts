/** Reads the events of a streamed message. Source: Anthropic's API reference, Streaming messages. */
import type { Fields } from '../../conversation/conversation.ts'
import { inputObject } from '../../conversation/json.ts'
import { others, ownOf } from '../../conversation/own.ts'
import type { Part } from '../../conversation/parts.ts'
import { maxChoices, maxToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import { unreadable } from '../../providers/failure.ts'
import { fieldsOf, isRecord, itemsOf, stringOf, textOf } from '../../wire/json.ts'
import { usageOfMessage, withTotals } from '../../wire/message-usage.ts'
import type { EventReader, Source } from '../format.ts'
import { newCallId } from '../tools.ts'
import { readCitation } from './citations.ts'
import { explanationIn, messageFields, readEnd } from './ends.ts'
import { stateOfHosted } from './hosted-blocks.ts'
import { stateOf } from './states.ts'

interface OpenBlock {
  readonly kind: 'text' | 'reasoning' | 'call' | 'own'
  /** Its number in the answer. */
  readonly block: number
  /** As it began. */
  start: Fields
  /** Of a block of the vendor's own: the pieces of its input. Of a call: whether there is any. */
  input: string
  signature: string
}

const callFields = new Set(['type', 'id', 'name', 'input'])
const blockFields = new Set(['type', 'text', 'citations', 'thinking', 'signature', 'data'])
const endFields = new Set(['type', 'delta', 'usage'])
const typeField = new Set(['type'])

export class MessageEventReader implements EventReader {
  done = false
  readonly #from: Source
  /** By the vendor's index. */
  readonly #open = new Map<unknown, OpenBlock>()
  #blocks = 0
  #calls = 0
  #id: string | undefined
  #usage: Fields = {}
  #hasEnded = false

  constructor(from: Source) {
    this.#from = from
  }

  read(event: Fields, out: Part[]): void {
    const { type } = event
    switch (type) {
      case 'content_block_delta':
        return this.#delta(event['index'], fieldsOf(event['delta']), out)
      case 'content_block_start':
        return this.#begin(event['index'], fieldsOf(event['content_block']), out)
      case 'content_block_stop':
        return this.#close(event['index'], out)
      case 'message_start':
        return this.#start(fieldsOf(event['message']), out)
      case 'message_delta':
        return this.#end(event, out)
      case 'message_stop':
        if (!this.#hasEnded) throw unreadable("the vendor's message ended without a stop reason")
        this.done = true
        return
      case 'error':
        throw this.#from.failure(event['error'])
      default:
        // The vendor adds new types. An object without one is an error.
        if (typeof type !== 'string') throw this.#from.failure(event['error'] ?? event)
    }
  }

  end(): void {
    if (!this.#hasEnded) throw unreadable("the vendor's stream ended before the response was complete")
  }

  /** Some proxies repeat the first event, or insert that of another response. */
  #start(message: Fields, out: Part[]): void {
    const id = textOf(message['id'])
    if (this.#id !== undefined && this.#id !== id)
      throw unreadable('the vendor started a second message inside the first')
    if (this.#id !== undefined) return
    this.#id = id
    const own = ownOf('messages', message, messageFields)
    out.push({ kind: 'start', id: id || undefined, model: stringOf(message['model']), own })
    this.#count(message['usage'], out)
  }

  #begin(at: unknown, start: Fields, out: Part[]): void {
    if (this.#blocks === maxChoices) throw tooMany('blocks', maxChoices)
    const block = this.#blocks++
    const own = ownOf('messages', start, start['type'] === 'tool_use' ? callFields : blockFields)
    switch (start['type']) {
      case 'text':
        this.#add(at, 'text', block, start)
        out.push({ kind: 'text', choice: 0, block, text: textOf(start['text']), own })
        for (const each of itemsOf(start['citations'])) this.#cite(each, block, out)
        return
      case 'thinking':
        this.#add(at, 'reasoning', block, start)
        out.push({ kind: 'reasoning', choice: 0, block, text: textOf(start['thinking']), own })
        return
      case 'redacted_thinking':
        this.#add(at, 'reasoning', block, start)
        out.push({ kind: 'reasoning', choice: 0, block, text: '', form: 'sealed', own })
        return
      case 'tool_use': {
        if (this.#calls++ === maxToolCalls) throw tooMany('tool calls', maxToolCalls)
        this.#add(at, 'call', block, start)
        const { id, name, input } = start
        out.push({
          kind: 'call',
          choice: 0,
          block,
          id: textOf(id) || newCallId(),
          name: textOf(name),
          by: 'function',
          own,
        })
        if (isRecord(input) && Object.keys(input).length > 0) this.#input(at, JSON.stringify(input), out)
        return
      }
      default:
        this.#add(at, 'own', block, start)
    }
  }

  #add(at: unknown, kind: OpenBlock['kind'], block: number, start: Fields): void {
    this.#open.set(at, { kind, block, start, input: '', signature: textOf(start['signature']) })
  }

  #delta(at: unknown, delta: Fields, out: Part[]): void {
    const open = this.#open.get(at) ?? this.#unnamed(at, delta, out)
    if (open === undefined) return
    const { kind, block } = open
    switch (delta['type']) {
      case 'text_delta':
        if (kind === 'text') out.push({ kind: 'text', choice: 0, block, text: textOf(delta['text']) })
        return
      case 'input_json_delta':
        return this.#input(at, textOf(delta['partial_json']), out)
      case 'thinking_delta':
        if (kind === 'reasoning') out.push({ kind: 'reasoning', choice: 0, block, text: textOf(delta['thinking']) })
        return
      case 'signature_delta':
        open.signature += textOf(delta['signature'])
        return
      case 'citations_delta':
        return this.#cite(delta['citation'], block, out)
      default:
        // As of a compaction, whose content comes in one piece.
        if (kind === 'own') open.start = { ...open.start, ...others(delta, typeField) }
    }
  }

  #cite(raw: unknown, block: number, out: Part[]): void {
    const citation = readCitation(raw)
    if (citation !== undefined) out.push({ kind: 'citation', choice: 0, block, citation })
  }

  #input(at: unknown, text: string, out: Part[]): void {
    const open = this.#open.get(at)
    if (open === undefined || text === '') return
    if (open.kind === 'own') open.input += text
    else if (open.kind === 'call') {
      open.input = 'some'
      out.push({ kind: 'input', choice: 0, block: open.block, text })
    }
  }

  /** Some proxies omit the start of a block. Its first delta reveals the type. */
  #unnamed(at: unknown, { type, partial_json: input }: Fields, out: Part[]): OpenBlock | undefined {
    if (type === 'text_delta') this.#begin(at, { type: 'text' }, out)
    else if (type === 'thinking_delta') this.#begin(at, { type: 'thinking' }, out)
    else if (type === 'input_json_delta' && input !== '')
      throw unreadable('the vendor sent the input of a tool call before its name')
    return this.#open.get(at)
  }

  #close(at: unknown, out: Part[]): void {
    const open = this.#open.get(at)
    if (open === undefined) return
    this.#open.delete(at)
    const { kind, block, start, input, signature } = open
    if (kind === 'reasoning') {
      const data = start['type'] === 'redacted_thinking' ? start['data'] : signature
      const state = stateOf(data, { maker: this.#from.maker, isAnswer: true })
      if (state !== undefined) out.push({ kind: 'state', choice: 0, block, state })
    } else if (kind === 'call') {
      if (input === '') out.push({ kind: 'input', choice: 0, block, text: '{}' })
      out.push({ kind: 'ended', choice: 0, block })
    } else if (kind === 'own') {
      const value = input === '' ? start : { ...start, input: inputObject(input) }
      out.push({ kind: 'own', choice: 0, block, format: 'messages', value })
      const state = stateOfHosted(this.#from.maker, value)
      if (state !== undefined) out.push({ kind: 'state', choice: 0, block, state })
    }
  }

  #end(event: Fields, out: Part[]): void {
    const delta = fieldsOf(event['delta'])
    this.#count(event['usage'], out)
    const end = readEnd(delta)
    if (end === undefined || this.#hasEnded) return
    this.#hasEnded = true
    for (const at of this.#open.keys()) this.#close(at, out)
    const explanation = explanationIn(delta)
    if (explanation !== undefined) out.push({ kind: 'refusal', choice: 0, block: this.#blocks++, text: explanation })
    const [more, own] = [others(delta, messageFields), others(event, endFields)]
    const value = more === undefined ? own : { ...own, delta: more }
    if (value !== undefined) out.push({ kind: 'own', choice: -1, block: -1, format: 'messages', value })
    out.push({ kind: 'end', choice: 0, end })
  }

  /** Each count is a total that replaces the earlier one. */
  #count(usage: unknown, out: Part[]): void {
    if (!isRecord(usage)) return
    this.#usage = withTotals(this.#usage, usage)
    out.push({ kind: 'usage', usage: usageOfMessage(this.#usage), counters: this.#usage })
  }
}
