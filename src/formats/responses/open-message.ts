import type { Citation, Fields } from '../../conversation/conversation.ts'
import type { RefusalPart, TextPart } from '../../conversation/parts.ts'
import { send, type OutEvent } from '../format.ts'
import { annotationOf } from './citations.ts'
import type { OpenItem, Place } from './open-item.ts'
import { messageItem, textPart, type ItemStatus } from './output-items.ts'

/** A message. Text and refusal are separate parts. */
export class OpenMessage implements OpenItem {
  readonly place: Place
  readonly #own: Fields | undefined
  readonly #parts: Fields[] = []
  #kind: 'text' | 'refusal' | undefined
  #text = ''
  #more: Fields | undefined
  #annotations: Fields[] = []
  #logprobs: unknown[] = []
  /** The block that is written, and where it begins in the text. */
  #block = -1
  #start = 0
  /** Of the whole block, whose length is not known yet. */
  #citations: Citation[] = []

  constructor(place: Place, own: Fields | undefined) {
    this.place = place
    this.#own = own
  }

  say({ kind, block, text, logprobs, own }: TextPart | RefusalPart, out: OutEvent[]): void {
    const { item: _, part, ...more } = own?.responses ?? {}
    if (this.#kind !== kind || (part === true && block !== this.#block)) this.#begin(kind, more, out)
    if (block !== this.#block) {
      this.#cite(out)
      this.#block = block
      this.#start = this.#text.length
    }
    if (text === '') {
      if (kind === 'text') this.#logprobs.push(...(logprobs ?? none))
      return
    }
    this.#text += text
    const { item_id, output_index } = this.place
    const content_index = this.#parts.length
    if (kind === 'refusal') {
      const type = 'response.refusal.delta'
      out.push({ type, item_id, output_index, content_index, delta: text })
      return
    }
    if (logprobs !== undefined) for (const each of logprobs) this.#logprobs.push(each)
    const type = 'response.output_text.delta'
    out.push({ type, item_id, output_index, content_index, delta: text, logprobs: logprobs ?? none })
  }

  cite(citation: Citation, out: OutEvent[]): void {
    if (this.#kind !== 'text') return
    if (citation.range === undefined && citation.own?.responses === undefined) this.#citations.push(citation)
    else this.#annotate(citation, out)
  }

  close(status: ItemStatus, out: OutEvent[]): Fields {
    this.#end(out)
    return messageItem(this.place.item_id, status, this.#parts, this.#own)
  }

  opened(): Fields {
    return messageItem(this.place.item_id, 'in_progress', [], this.#own)
  }

  #begin(kind: 'text' | 'refusal', more: Fields, out: OutEvent[]): void {
    this.#end(out)
    this.#kind = kind
    this.#more = more
    this.#annotations = []
    this.#logprobs = []
    this.#text = ''
    this.#start = 0
    send('response.content_part.added', { ...this.#at(), part: this.#part() }, out)
  }

  #end(out: OutEvent[]): void {
    if (this.#kind === undefined) return
    this.#cite(out)
    const [text, part] = [this.#text, this.#part()]
    if (this.#kind === 'text') send('response.output_text.done', { ...this.#at(), text, logprobs: this.#logprobs }, out)
    else send('response.refusal.done', { ...this.#at(), refusal: text }, out)
    send('response.content_part.done', { ...this.#at(), part }, out)
    this.#parts.push(part)
    this.#kind = undefined
  }

  #cite(out: OutEvent[]): void {
    for (const citation of this.#citations.splice(0)) this.#annotate(citation, out)
  }

  #annotate(citation: Citation, out: OutEvent[]): void {
    const annotation = annotationOf(citation, this.#start, this.#text.length - this.#start)
    if (annotation === undefined) return
    const annotation_index = this.#annotations.push(annotation) - 1
    send('response.output_text.annotation.added', { ...this.#at(), annotation_index, annotation }, out)
  }

  #at(): Fields {
    return { ...this.place, content_index: this.#parts.length }
  }

  #part(): Fields {
    if (this.#kind === 'refusal') return { type: 'refusal', refusal: this.#text, ...this.#more }
    return { ...textPart(this.#text, [...this.#annotations], [...this.#logprobs]), ...this.#more }
  }
}

const none: readonly unknown[] = []
