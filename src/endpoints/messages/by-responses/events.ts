/** Conversion of the events of a response to those of a message. */
import { billed, retrySame, unreadable } from '../../../providers/failure.ts'
import type { MessageEvent, StopReason } from '../../../wire/messages.ts'
import type { OutputItem, ResponseEvent, ResponseObject, ResponsePart } from '../../../wire/responses.ts'
import { chatUsage } from '../../../wire/response-usage.ts'
import type { Usage } from '../../../wire/usage.ts'
import { seal } from '../../envelope.ts'
import { messageUsage } from '../usage.ts'
import type { EventWriter, Sealing } from '../writer.ts'
import { textOf } from '../../../wire/json.ts'

/** The encrypted reasoning of an item, for its thinking block. */
export class ReasoningSealing implements Sealing {
  isWaiting = false
  readonly #maker: string
  #encrypted = ''

  constructor(maker: string) {
    this.#maker = maker
  }

  add(encrypted: string): void {
    this.#encrypted = encrypted
    this.isWaiting = true
  }

  sign(): string {
    const encrypted = this.#encrypted
    this.#encrypted = ''
    this.isWaiting = false
    return seal(this.#maker, encrypted)
  }
}

/** Events for those of one response. */
export class ResponseReader {
  readonly #writer: EventWriter
  readonly #sealing: ReasoningSealing
  /** The items whose content has arrived in pieces, by `output_index`. */
  readonly #written = new Set<number>()
  readonly #calls = new Set<number>()
  #refused = false
  /** The response in the last event. */
  response: ResponseObject | undefined

  constructor(writer: EventWriter, sealing: ReasoningSealing) {
    this.#writer = writer
    this.#sealing = sealing
  }

  begin(out: MessageEvent[]): void {
    this.#writer.begin(out)
  }

  accept(event: ResponseEvent, out: MessageEvent[]): void {
    const { type, item, output_index: index = 0, response, delta } = event
    if (type.endsWith('.delta') && typeof delta === 'string') return this.#delta(type, delta, index, out)
    switch (type) {
      case 'response.output_item.added':
        if (item?.type === 'function_call') this.#openCall(item, index, out)
        return
      case 'response.reasoning_summary_part.added':
        if (this.#written.has(index)) this.#writer.think('\n\n', out)
        return
      case 'response.output_item.done':
        if (item !== undefined) this.#itemDone(item, index, out)
        return
      case 'response.completed':
      case 'response.incomplete':
        this.response = response
        return
      case 'response.failed':
      case 'response.cancelled':
        throw billed(
          retrySame(new Error(`the vendor ended the response as "${type}"`)),
          chatUsage(response?.usage, response?.output),
        )
    }
  }

  /** `usage`: of the whole response. */
  end(usage: Usage, out: MessageEvent[]): void {
    const { response } = this
    if (response === undefined) throw unreadable('the vendor ended the stream without the last event')
    // Some vendors send the items in the last event only.
    if (this.#written.size === 0) {
      for (const [index, item] of response.output.entries()) this.#itemDone(item, index, out)
    }
    this.#writer.end({ reason: this.#reasonOf(response), usage: messageUsage(usage) }, out)
  }

  #reasonOf({ status, incomplete_details: details }: ResponseObject): StopReason {
    if (this.#refused || details?.reason === 'content_filter') return 'refusal'
    return status === 'incomplete' ? 'max_tokens' : 'end_turn'
  }

  #delta(type: string, delta: string, index: number, out: MessageEvent[]): void {
    if (delta === '') return
    switch (type) {
      case 'response.output_text.delta':
        this.#writer.text(delta, out)
        break
      case 'response.refusal.delta':
        this.#refused = true
        this.#writer.text(delta, out)
        break
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#writer.think(delta, out)
        break
      case 'response.function_call_arguments.delta':
        this.#writer.call({ index, function: { arguments: delta } }, out)
        break
      default:
        return
    }
    this.#written.add(index)
  }

  #openCall({ call_id: id, name }: OutputItem, index: number, out: MessageEvent[]): void {
    this.#calls.add(index)
    this.#writer.call({ index, id: textOf(id), function: { name: textOf(name) } }, out)
  }

  /** What an item has that did not arrive in pieces. */
  #itemDone(item: OutputItem, index: number, out: MessageEvent[]): void {
    const isNew = !this.#written.has(index)
    switch (item.type) {
      case 'reasoning': {
        if (isNew) this.#writer.think(reasoningIn(item), out)
        const { encrypted_content: encrypted } = item
        if (typeof encrypted === 'string' && encrypted !== '') this.#sealing.add(encrypted)
        this.#writer.sign(out)
        break
      }
      case 'function_call':
        if (!this.#calls.has(index)) this.#openCall(item, index, out)
        if (isNew) this.#writer.call({ index, function: { arguments: textOf(item['arguments']) || '{}' } }, out)
        break
      case 'message':
        if (isNew) this.#message(item, out)
        break
      default:
        return
    }
    this.#written.add(index)
  }

  #message({ content }: OutputItem, out: MessageEvent[]): void {
    for (const { type, text, refusal } of Array.isArray(content) ? (content as ResponsePart[]) : []) {
      if (type === 'refusal') this.#refused = true
      this.#writer.text(textOf(type === 'refusal' ? refusal : text), out)
    }
  }
}

function reasoningIn({ summary, content }: OutputItem): string {
  const parts = [summary, content].find((each) => Array.isArray(each) && each.length > 0)
  return ((parts ?? []) as ResponsePart[]).map(({ text }) => textOf(text)).join('\n\n')
}
