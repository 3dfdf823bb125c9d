/**
 * Reads the events of a streamed response; a whole one is that of the last event. Source: OpenAI's API reference, Streaming
 * events.
 */
import { maxToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import { billed, retrySame, unreadable } from '../../providers/failure.ts'
import { chatUsage } from '../../wire/response-usage.ts'
import { fieldsOf, isRecord, itemsOf, numberOf, stringOf, textOf } from '../../wire/json.ts'
import type { OutputItem } from '../../wire/responses.ts'
import type { Block, Fields } from '../../conversation/conversation.ts'
import { asOwn, others } from '../../conversation/own.ts'
import { fold } from '../../conversation/fold.ts'
import type { Answer, Part } from '../../conversation/parts.ts'
import { partsOf } from '../../conversation/unfold.ts'
import type { EventReader, Source } from '../format.ts'
import { tokensIn } from '../chat/logprobs.ts'
import { answerFields, blocksOf } from './answer.ts'
import { readAnnotation } from './citations.ts'
import { endOf } from './ends.ts'
import { furtherOf } from './items.ts'
import { nameIn } from './names.ts'
import { stateOf } from './state.ts'

interface OpenItem {
  readonly type: string
  /** The block of the open part, and which part that is. */
  block: number
  part: number
  /** Whether anything of it has arrived in pieces. */
  written: boolean
  /** What a piece of reasoning is separated by from the one before. */
  between: string
  /** Fields that only this wire has, for the first piece. */
  own: Fields | undefined
}

export function readAnswer(body: Fields, from: Source): Answer {
  const { status = 'completed', error, output } = body
  if (error) throw billed(from.failure(error), usageOf(body))
  const reader = new ResponseEventReader(from)
  const parts: Part[] = []
  reader.read({ type: `response.${textOf(status)}`, response: body }, parts)
  if (!reader.done) throw unreadable('the vendor returned a response that has not ended')
  if (!Array.isArray(output)) throw unreadable("the vendor's response has no output")
  return fold(parts)
}

export class ResponseEventReader implements EventReader {
  done = false
  readonly #from: Source
  /** By `output_index`. */
  readonly #items = new Map<number, OpenItem>()
  #last: OpenItem | undefined
  #lastIndex = -1
  #blocks = 0
  #begun = false
  #hasCalls = false
  #hasContent = false

  constructor(from: Source) {
    this.#from = from
  }

  read(event: Fields, out: Part[]): void {
    switch (event['type']) {
      case 'response.output_text.delta':
        return this.#text('text', event, out)
      case 'response.refusal.delta':
        return this.#text('refusal', event, out)
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#input(event, out)
      case 'response.reasoning_summary_text.delta':
        return this.#reason(event, 'summary', out)
      case 'response.reasoning_text.delta':
        return this.#reason(event, undefined, out)
      case 'response.output_item.added':
        return this.#added(indexOf(event), fieldsOf(event['item']), out)
      case 'response.output_item.done':
        return this.#itemDone(indexOf(event), fieldsOf(event['item']), out)
      case 'response.reasoning_summary_part.added':
        return this.#nextSummary(event)
      case 'response.output_text.annotation.added':
        return this.#cite(event, out)
      case 'error':
        throw this.#from.failure(event['error'] ?? event)
      default:
        this.#status(event, out)
    }
  }

  end(): void {
    if (!this.done) throw unreadable("the vendor's stream ended before the response was complete")
  }

  #status({ type, response, error }: Fields, out: Part[]): void {
    if (error) throw this.#from.failure(error)
    if (!isRecord(response)) return
    if (!this.#begun) this.#start(response, out)
    switch (type) {
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(response, out)
      case 'response.failed':
      case 'response.cancelled': {
        const failure = response['error']
          ? this.#from.failure(response['error'])
          : retrySame(new Error(`the vendor ended the response as "${type}"`))
        throw billed(failure, usageOf(response))
      }
    }
  }

  #start({ id, created_at: created, model }: Fields, out: Part[]): void {
    this.#begun = true
    out.push({ kind: 'start', id: stringOf(id), created: numberOf(created), model: stringOf(model) })
  }

  /** Some vendors send the items in the last event only. */
  #finish(response: Fields, out: Part[]): void {
    this.done = true
    const { output, usage } = response
    if (!this.#hasContent && Array.isArray(output)) this.#whole(blocksOf(output, this.#from.maker), out)
    const counted = usageOf(response)
    if (isRecord(usage)) out.push({ kind: 'usage', usage: counted, counters: usage })
    const own = others(response, answerFields)
    if (own !== undefined) out.push({ kind: 'own', choice: -1, block: -1, format: 'responses', value: own })
    const end = endOf(response, this.#hasCalls) ?? { reason: this.#hasCalls ? 'calls' : 'stop' }
    out.push({ kind: 'end', choice: 0, end })
  }

  #open(index: number, type: string): OpenItem {
    if (index === this.#lastIndex && this.#last !== undefined) return this.#last
    let item = this.#items.get(index)
    if (item === undefined) {
      if (this.#items.size === maxToolCalls) throw tooMany('items', maxToolCalls)
      item = { type, block: -1, part: -1, written: false, between: '', own: undefined }
      this.#items.set(index, item)
    }
    this.#last = item
    this.#lastIndex = index
    return item
  }

  #text(kind: 'text' | 'refusal', event: Fields, out: Part[]): void {
    const { delta, content_index: at, logprobs } = event
    if (typeof delta !== 'string' || delta === '') return
    const item = this.#open(indexOf(event), 'message')
    const part = (typeof at === 'number' ? at : 0) * 2 + (kind === 'text' ? 0 : 1)
    const isNext = item.written && item.part !== part
    if (item.part !== part) this.#next(item, part)
    item.written = this.#hasContent = true
    const own = isNext ? { part: true } : item.own
    item.own = undefined
    const [block, tokens] = [item.block, tokensIn(logprobs)]
    out.push({ kind, choice: 0, block, text: delta, logprobs: tokens, own: asOwn('responses', own) })
  }

  #next(item: OpenItem, part: number): void {
    item.block = this.#blocks++
    item.part = part
  }

  #reason(event: Fields, form: 'summary' | undefined, out: Part[]): void {
    const { delta } = event
    if (typeof delta !== 'string' || delta === '') return
    const item = this.#open(indexOf(event), 'reasoning')
    if (item.block < 0) this.#next(item, 0)
    const text = item.between + delta
    item.between = ''
    item.written = this.#hasContent = true
    out.push({ kind: 'reasoning', choice: 0, block: item.block, text, form, own: asOwn('responses', item.own) })
    item.own = undefined
  }

  #nextSummary(event: Fields): void {
    const item = this.#open(indexOf(event), 'reasoning')
    if (item.written) item.between = '\n\n'
  }

  #input(event: Fields, out: Part[]): void {
    const { delta } = event
    const item = this.#open(indexOf(event), 'function_call')
    if (typeof delta !== 'string' || delta === '') return
    if (item.block < 0) throw unreadable('the vendor sent the input of a tool call before its name')
    item.written = true
    out.push({ kind: 'input', choice: 0, block: item.block, text: delta })
  }

  #cite(event: Fields, out: Part[]): void {
    const item = this.#items.get(indexOf(event))
    const citation = readAnnotation(event['annotation'])
    if (item !== undefined && item.block >= 0 && citation !== undefined)
      out.push({ kind: 'citation', choice: 0, block: item.block, citation })
  }

  #added(index: number, item: Fields, out: Part[]): void {
    const type = textOf(item['type'])
    const open = this.#open(index, type)
    open.own = furtherOf(item)
    if (open.block < 0 && (type === 'function_call' || type === 'custom_tool_call')) this.#call(open, item, out)
  }

  #call(open: OpenItem, item: Fields, out: Part[]): void {
    const { type, call_id: id, name, namespace } = item
    this.#next(open, 0)
    this.#hasCalls = this.#hasContent = true
    out.push({
      kind: 'call',
      choice: 0,
      block: open.block,
      id: textOf(id),
      name: nameIn(namespace, textOf(name)),
      by: type === 'custom_tool_call' ? 'custom' : 'function',
      own: asOwn('responses', furtherOf(item)),
    })
  }

  /** What an item has that did not arrive in pieces. */
  #itemDone(index: number, item: Fields, out: Part[]): void {
    const type = textOf(item['type'])
    const open = this.#open(index, type)
    if (type === 'function_call' || type === 'custom_tool_call') {
      if (open.block < 0) this.#call(open, item, out)
      const { block } = open
      const whole = textOf(type === 'function_call' ? item['arguments'] : item['input'])
      const text = whole === '' && type === 'function_call' ? '{}' : whole
      if (!open.written && text !== '') out.push({ kind: 'input', choice: 0, block, text })
      out.push({ kind: 'ended', choice: 0, block })
    } else if (!open.written) this.#whole(blocksOf([item], this.#from.maker), out)
    else if (type === 'reasoning') {
      const state = stateOf(item['encrypted_content'], this.#from.maker)
      if (state !== undefined) out.push({ kind: 'state', choice: 0, block: open.block, state })
    }
    open.written = true
  }

  /** Blocks that have arrived as a whole. */
  #whole(blocks: readonly Block[], out: Part[]): void {
    for (const block of blocks) {
      if (isEmpty(block)) continue
      this.#hasContent = true
      if (block.kind === 'call') this.#hasCalls = true
      const number = this.#blocks++
      for (const part of partsOf({ choices: [{ blocks: [block] }] }))
        if (part.kind !== 'start') out.push({ ...part, block: number } as Part)
    }
  }
}

/** Reasoning that says nothing and that nobody can read. */
function isEmpty(block: Block): boolean {
  return block.kind === 'reasoning' && block.text === '' && block.state === undefined
}

function usageOf({ usage, output }: Fields): ReturnType<typeof chatUsage> {
  return chatUsage(usage, itemsOf(output) as readonly OutputItem[])
}

function indexOf({ output_index: index }: Fields): number {
  return typeof index === 'number' ? index : 0
}
