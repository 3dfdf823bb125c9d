import type { OutputItem, ResponseEvent, ResponsePart } from '../../../wire/responses.ts'
import { outputText } from '../items.ts'
import type { ItemStatus, OpenItem, Place } from './open-item.ts'

/** A message. Text and refusal are separate parts. */
export class OpenMessage implements OpenItem {
  readonly #place: Place
  readonly #parts: ResponsePart[] = []
  #annotations: unknown[] = []
  #logprobs: unknown[] = []
  #kind: 'text' | 'refusal' | undefined
  #text = ''

  constructor(place: Place) {
    this.#place = place
  }

  text(delta: string, logprobs: readonly unknown[]): ResponseEvent[] {
    const events = this.#begin('text')
    this.#text += delta
    for (const each of logprobs) this.#logprobs.push(each)
    return [...events, { type: 'response.output_text.delta', ...this.#at, delta, logprobs }]
  }

  refusal(delta: string): ResponseEvent[] {
    const events = this.#begin('refusal')
    this.#text += delta
    return [...events, { type: 'response.refusal.delta', ...this.#at, delta }]
  }

  annotation(annotation: unknown): ResponseEvent[] {
    const events = this.#begin('text')
    const index = this.#annotations.push(annotation) - 1
    return [
      ...events,
      { type: 'response.output_text.annotation.added', ...this.#at, annotation_index: index, annotation },
    ]
  }

  close(): ResponseEvent[] {
    if (this.#kind === undefined) return []
    const text = this.#text
    const part = this.#part()
    const done: ResponseEvent =
      this.#kind === 'text'
        ? { type: 'response.output_text.done', ...this.#at, text, logprobs: this.#logprobs }
        : { type: 'response.refusal.done', ...this.#at, refusal: text }
    const events = [done, { type: 'response.content_part.done', ...this.#at, part }]
    this.#parts.push(part)
    this.#kind = undefined
    this.#text = ''
    return events
  }

  item(status: ItemStatus): OutputItem {
    return { id: this.#place.item_id, type: 'message', status, content: [...this.#parts], role: 'assistant' }
  }

  get #at() {
    return { ...this.#place, content_index: this.#parts.length }
  }

  #begin(kind: 'text' | 'refusal'): ResponseEvent[] {
    if (this.#kind === kind) return []
    const events = this.close()
    this.#kind = kind
    this.#annotations = []
    this.#logprobs = []
    return [...events, { type: 'response.content_part.added', ...this.#at, part: this.#part() }]
  }

  #part(): ResponsePart {
    if (this.#kind === 'refusal') return { type: 'refusal', refusal: this.#text }
    return { ...outputText(this.#text), annotations: [...this.#annotations], logprobs: [...this.#logprobs] }
  }
}
