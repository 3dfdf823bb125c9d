import type { Fields, ReasoningBlock, State } from '../../conversation/conversation.ts'
import { send, type OutEvent } from '../format.ts'
import type { OpenItem, Place } from './open-item.ts'
import { writtenReasoning, type ItemStatus } from './output-items.ts'

/** Reasoning: as a summary, or as the text itself. */
export class OpenReasoning implements OpenItem {
  readonly place: Place
  readonly #form: ReasoningBlock['form']
  readonly #isSummary: boolean
  readonly #kind: string
  readonly #own: Fields | undefined
  #text = ''
  #state: State | undefined

  constructor(place: Place, form: ReasoningBlock['form'], isSummary: boolean, own: Fields | undefined) {
    this.place = place
    this.#form = form
    this.#isSummary = isSummary
    this.#kind = isSummary ? 'response.reasoning_summary_text' : 'response.reasoning_text'
    this.#own = own
  }

  say(text: string, out: OutEvent[]): void {
    if (text === '') return
    if (this.#text === '') this.#part('added', out)
    this.#text += text
    send(`${this.#kind}.delta`, { ...this.#at(), delta: text }, out)
  }

  sign(state: State): void {
    this.#state = state
  }

  close(_: ItemStatus, out: OutEvent[]): Fields {
    if (this.#text !== '') {
      send(`${this.#kind}.done`, { ...this.#at(), text: this.#text }, out)
      this.#part('done', out)
    }
    const block = { text: this.#text, form: this.#form, state: this.#state }
    return { ...writtenReasoning(this.place.item_id, block, this.#isSummary), ...this.#own }
  }

  opened(): Fields {
    return { id: this.place.item_id, type: 'reasoning', summary: [] }
  }

  #at(): Fields {
    return this.#isSummary ? { ...this.place, summary_index: 0 } : { ...this.place, content_index: 0 }
  }

  #part(what: 'added' | 'done', out: OutEvent[]): void {
    const part = { type: this.#isSummary ? 'summary_text' : 'reasoning_text', text: this.#text }
    const kind = this.#isSummary ? 'response.reasoning_summary_part' : 'response.content_part'
    send(`${kind}.${what}`, { ...this.#at(), part }, out)
  }
}
