/**
 * Reads the events of a streamed response; a whole one is that of the last event. Source: OpenAI's API reference, Streaming
 * events.
 */
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
import { answerFields, blocksOf } from './answer.ts'
import { endOf } from './ends.ts'
import { ItemPieces } from './item-pieces.ts'
import { furtherOf } from './items.ts'
import { nameIn } from './names.ts'
import { idOf, itemFor, type OpenItem } from './pieces.ts'
import { stateOf } from './state.ts'

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
  readonly #pieces = new ItemPieces()
  #begun = false
  #hasCalls = false

  constructor(from: Source) {
    this.#from = from
  }

  read(event: Fields, out: Part[]): void {
    switch (event['type']) {
      case 'response.output_text.delta':
        return this.#pieces.text('text', event, out)
      case 'response.refusal.delta':
        return this.#pieces.text('refusal', event, out)
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#pieces.input(event, out)
      case 'response.function_call_arguments.done':
        return this.#pieces.inputDone(event, event['arguments'], out)
      case 'response.custom_tool_call_input.done':
        return this.#pieces.inputDone(event, event['input'], out)
      case 'response.reasoning_summary_text.delta':
        return this.#pieces.reason(event, 'summary', out)
      case 'response.reasoning_text.delta':
        return this.#pieces.reason(event, undefined, out)
      case 'response.output_text.done':
        return this.#pieces.partDone(event, 'message', { ...event, type: 'output_text' }, out)
      case 'response.refusal.done':
        return this.#pieces.partDone(event, 'message', { ...event, type: 'refusal' }, out)
      case 'response.reasoning_summary_text.done':
        return this.#pieces.partDone(event, 'reasoning', { ...event, type: 'summary_text' }, out)
      case 'response.reasoning_text.done':
        return this.#pieces.partDone(event, 'reasoning', { ...event, type: 'reasoning_text' }, out)
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.done':
        return this.#pieces.partDone(event, 'message', fieldsOf(event['part']), out)
      case 'response.output_item.added':
        return this.#added(this.#pieces.place(event['output_index']), fieldsOf(event['item']), out)
      case 'response.output_item.done': {
        const item = fieldsOf(event['item'])
        return this.#itemDone(
          this.#pieces.open(this.#pieces.place(event['output_index']), textOf(item['type'])),
          item,
          out,
        )
      }
      case 'response.reasoning_summary_part.added':
        return this.#pieces.nextSummary(event)
      case 'response.output_text.annotation.added':
        return this.#pieces.cite(event, out)
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

  /** Some vendors send the items, or parts of them, in the last event only. */
  #finish(response: Fields, out: Part[]): void {
    this.done = true
    const { output, usage } = response
    if (this.#pieces.hasContent) this.#complete(itemsOf(output), out)
    else if (Array.isArray(output)) this.#whole(blocksOf(output, this.#from.maker), out)
    const counted = usageOf(response)
    if (isRecord(usage)) out.push({ kind: 'usage', usage: counted, counters: usage })
    const own = others(response, answerFields)
    if (own !== undefined) out.push({ kind: 'own', choice: -1, block: -1, format: 'responses', value: own })
    const end = endOf(response, this.#hasCalls) ?? { reason: this.#hasCalls ? 'calls' : 'stop' }
    out.push({ kind: 'end', choice: 0, end })
  }

  #complete(output: readonly unknown[], out: Part[]): void {
    for (const item of output) {
      if (!isRecord(item)) continue
      const type = textOf(item['type'])
      const known = itemFor(item, output, this.#pieces.items.values())
      if (known === undefined && this.#pieces.isLoose && !type.endsWith('_call')) continue
      this.#itemDone(known ?? this.#pieces.open(-1 - this.#pieces.items.size, type), item, out)
    }
  }

  #added(index: number, item: Fields, out: Part[]): void {
    const type = textOf(item['type'])
    const open = this.#pieces.open(index, type)
    open.own = furtherOf(item)
    open.id = idOf(item)
    if (open.block < 0 && (type === 'function_call' || type === 'custom_tool_call')) this.#call(open, item, out)
  }

  #call(open: OpenItem, item: Fields, out: Part[]): void {
    const { type, call_id: id, name, namespace } = item
    open.block = this.#pieces.nextBlock()
    this.#hasCalls = this.#pieces.hasContent = true
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
  #itemDone(open: OpenItem, item: Fields, out: Part[]): void {
    if (open.done) return
    open.id ??= idOf(item)
    const { type, content, summary, encrypted_content: encrypted } = item
    if (type === 'function_call' || type === 'custom_tool_call') {
      if (open.block < 0) this.#call(open, item, out)
      const whole = textOf(type === 'function_call' ? item['arguments'] : item['input'])
      const isBare = whole === '' && type === 'function_call' && open.pieces.size === 0
      this.#pieces.inputRest(open, isBare ? '{}' : whole, out)
      out.push({ kind: 'ended', choice: 0, block: open.block })
      open.done = true
    } else if (!open.written) open.done = this.#whole(blocksOf([item], this.#from.maker), out)
    else {
      for (const parts of [summary, content])
        for (const [at, part] of itemsOf(parts).entries()) this.#pieces.rest(open, at, fieldsOf(part), out)
      const state = type === 'reasoning' ? stateOf(encrypted, this.#from.maker) : undefined
      if (state === undefined) return
      out.push({ kind: 'state', choice: 0, block: open.block, state })
      open.done = true
    }
  }

  /** Blocks that have arrived as a whole. Returns whether they say anything. */
  #whole(blocks: readonly Block[], out: Part[]): boolean {
    let isSaid = false
    for (const block of blocks) {
      if (isEmpty(block)) continue
      isSaid = this.#pieces.hasContent = true
      if (block.kind === 'call') this.#hasCalls = true
      const number = this.#pieces.nextBlock()
      for (const part of partsOf({ choices: [{ blocks: [block] }] }))
        if (part.kind !== 'start') out.push({ ...part, block: number } as Part)
    }
    return isSaid
  }
}

/** Reasoning that says nothing and that nobody can read. */
function isEmpty(block: Block): boolean {
  return block.kind === 'reasoning' && block.text === '' && block.state === undefined
}

function usageOf({ usage, output }: Fields): ReturnType<typeof chatUsage> {
  return chatUsage(usage, itemsOf(output) as readonly OutputItem[])
}
