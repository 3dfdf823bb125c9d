import type { OutputItem, ResponseEvent, ResponsePart } from '../../../wire/responses.ts'
import type { OpenItem, Place } from './open-item.ts'

/** Reasoning: as a summary if the client requested one, else as reasoning text. */
export class OpenReasoning implements OpenItem {
  readonly #place: Place
  readonly #summary: boolean
  #text = ''
  #encrypted: string | undefined

  constructor(place: Place, summary: boolean) {
    this.#place = place
    this.#summary = summary
  }

  text(delta: string): ResponseEvent[] {
    const events = this.#text === '' ? [this.#event('added')] : []
    this.#text += delta
    const kind = this.#summary ? 'response.reasoning_summary_text' : 'response.reasoning_text'
    return [...events, { type: `${kind}.delta`, ...this.#at, delta }]
  }

  /** Sets the `encrypted_content`. */
  encrypt(encrypted: string): void {
    this.#encrypted = encrypted
  }

  close(): ResponseEvent[] {
    if (this.#text === '') return []
    const kind = this.#summary ? 'response.reasoning_summary_text' : 'response.reasoning_text'
    return [{ type: `${kind}.done`, ...this.#at, text: this.#text }, this.#event('done')]
  }

  item(): OutputItem {
    const parts = this.#text === '' ? [] : [this.#part]
    return {
      id: this.#place.item_id,
      type: 'reasoning',
      summary: this.#summary ? parts : [],
      ...(!this.#summary && parts.length > 0 && { content: parts }),
      ...(this.#encrypted !== undefined && { encrypted_content: this.#encrypted }),
    }
  }

  get #at() {
    return { ...this.#place, ...(this.#summary ? { summary_index: 0 } : { content_index: 0 }) }
  }

  get #part(): ResponsePart {
    return { type: this.#summary ? 'summary_text' : 'reasoning_text', text: this.#text }
  }

  #event(what: 'added' | 'done'): ResponseEvent {
    const kind = this.#summary ? 'response.reasoning_summary_part' : 'response.content_part'
    return { type: `${kind}.${what}`, ...this.#at, part: this.#part }
  }
}
