/**
 * Writes the events of a response. Items are in the order in which the model started them; each is closed before the next
 * is opened, and the last event contains exactly the closed ones. What belongs to another item waits while a call is written.
 */
import { responseUsage } from '../../wire/response-usage.ts'
import type { Fields, State } from '../../conversation/conversation.ts'
import { joinOwn, type Own } from '../../conversation/own.ts'
import type {
  CitationPart,
  CallPart,
  End,
  MediaPart,
  OwnPart,
  Part,
  ReasoningPart,
  RefusalPart,
  TextPart,
  UsagePart,
} from '../../conversation/parts.ts'
import { send, type Asked, type EventWriter, type OutEvent } from '../format.ts'
import { textInstead } from '../instead.ts'
import { mediaText } from '../media.ts'
import { OneByOne, type BlockPart } from '../one-by-one.ts'
import { asSummary, base64In, endedResponse, openedResponse } from './answer.ts'
import { incompleteReason } from './ends.ts'
import { OpenCall } from './open-call.ts'
import type { OpenItem, Place } from './open-item.ts'
import { OpenMessage } from './open-message.ts'
import { OpenReasoning } from './open-reasoning.ts'
import { imageItem, itemId, kindOfCall, writtenReasoning, type ItemKind, type ItemStatus } from './output-items.ts'

export class ResponseEventWriter implements EventWriter {
  readonly #asked: Asked
  readonly #isWhole: boolean
  readonly #output: Fields[] = []
  #open: OpenItem | undefined
  #block = -1
  /** Citations of texts that have not begun. */
  #early: readonly CitationPart[] = []
  /** Whether the item that is open was announced. */
  #announced = false
  /** State that no item has yet. */
  #state: State | undefined
  readonly #order = new OneByOne((part, out) => this.#content(part, out))
  #begun = false
  #end: End | undefined
  #usage: UsagePart | undefined
  #further: Own | undefined

  /** `isWhole`: whether the texts of the answer are complete, so that even an empty one is a message. */
  constructor(asked: Asked, isWhole: boolean = false) {
    this.#asked = asked
    this.#isWhole = isWhole
  }

  write(part: Part, out: OutEvent[]): void {
    switch (part.kind) {
      case 'start':
        this.#further = part.own
        return this.#begin(out)
      case 'usage':
        this.#usage = part
        return
      case 'end':
        if (part.choice === 0) this.#end = part.end
        return
      case 'own':
        if (part.choice < 0) this.#further = joinOwn(this.#further, { [part.format]: part.value })
        if (part.block < 0) return
    }
    if (part.choice > 0) return
    if (!this.#begun) this.#begin(out)
    this.#order.add(part, out)
  }

  end(out: OutEvent[]): void {
    if (!this.#begun) this.#begin(out)
    const reason = incompleteReason(this.#end)
    while (this.#order.release(out)) continue
    this.#close(reason === undefined ? 'completed' : 'incomplete', out)
    this.#flushState(out)
    const counted = this.#usage?.usage && responseUsage(this.#usage.usage)
    const response = endedResponse(this.#asked, this.#output, reason, counted, this.#further)
    send(`response.${String(response['status'])}`, { response }, out)
  }

  #begin(out: OutEvent[]): void {
    if (this.#begun) return
    this.#begun = true
    const response = openedResponse(this.#asked)
    send('response.created', { response }, out)
    send('response.in_progress', { response }, out)
  }

  #content(part: BlockPart, out: OutEvent[]): void {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return this.#say(part, out)
      case 'reasoning':
        return this.#reason(part, out)
      case 'call':
        return this.#call(part, out)
      case 'input':
        if (this.#open instanceof OpenCall && this.#block === part.block) this.#open.write(part.text, out)
        return
      case 'ended':
        return
      case 'citation':
        return this.#cite(part, out)
      case 'state':
        return this.#sign(part.block, part.state, out)
      case 'media':
        return this.#media(part, out)
      case 'own':
        return this.#own(part, out)
    }
  }

  #say(part: TextPart | RefusalPart, out: OutEvent[]): void {
    const item = part.own?.responses?.['item'] as Fields | undefined
    if (!(this.#open instanceof OpenMessage) || (item !== undefined && part.block !== this.#block)) {
      // An empty piece opens no message.
      if (part.text === '' && part.logprobs === undefined && !this.#isWhole) return
      this.#start('message', part.block, (place) => new OpenMessage(place, item), out)
    }
    this.#block = part.block
    const message = this.#open as OpenMessage
    message.say(part, out)
    if (part.text === '' || this.#early.length === 0) return
    for (const { block, citation } of this.#early) if (block === part.block) message.cite(citation, out)
    this.#early = this.#early.filter(({ block }) => block !== part.block)
  }

  /** A citation may come before the text that it is about. */
  #cite(part: CitationPart, out: OutEvent[]): void {
    if (this.#open instanceof OpenMessage && this.#block === part.block) this.#open.cite(part.citation, out)
    else this.#early = [...this.#early, part]
  }

  #reason({ block, text, form, own }: ReasoningPart, out: OutEvent[]): void {
    if (!(this.#open instanceof OpenReasoning) || this.#block !== block) {
      const isSummary = asSummary(this.#asked, form)
      this.#start('reasoning', block, (place) => new OpenReasoning(place, form, isSummary, own?.responses), out, false)
    }
    if (text === '') return
    this.#announce(out)
    ;(this.#open as OpenReasoning).say(text, out)
  }

  #call(part: CallPart, out: OutEvent[]): void {
    if (part.state !== undefined) {
      this.#close('completed', out)
      this.#flushState(out)
      this.#state = part.state
    }
    const kind = kindOfCall(part)
    // What the call of a client's tool says stands in fields, which are known when it is complete.
    this.#start(kind, part.block, (place) => new OpenCall(place, part), out, kind !== 'client')
  }

  #sign(block: number, state: State, out: OutEvent[]): void {
    if (this.#open instanceof OpenReasoning && this.#block === block) {
      this.#announce(out)
      this.#open.sign(state)
      return
    }
    if (this.#state !== undefined) this.#close('completed', out)
    this.#flushState(out)
    this.#state = state
  }

  #media(part: MediaPart, out: OutEvent[]): void {
    const { choice, block, type, source, own } = part
    const base64 = type === 'image' ? base64In(source) : undefined
    if (base64 === undefined) {
      const text = mediaText(part, this.#open instanceof OpenMessage && this.#block === block)
      return this.#say({ kind: 'text', choice, block, text }, out)
    }
    this.#close('completed', out)
    this.#flushState(out)
    const place = this.#nextPlace('image')
    const { output_index } = place
    send('response.output_item.added', { output_index, item: imageItem(place.item_id, 'in_progress', null) }, out)
    send('response.image_generation_call.completed', { ...place }, out)
    this.#done({ ...imageItem(place.item_id, 'completed', base64), ...own?.responses }, out)
  }

  #own(part: OwnPart, out: OutEvent[]): void {
    const { choice, block, format, value } = part
    if (format === 'responses') {
      this.#close('completed', out)
      this.#flushState(out)
      send('response.output_item.added', { output_index: this.#output.length, item: value }, out)
      this.#done(value, out)
      return
    }
    this.#say({ kind: 'text', choice, block, text: textInstead(part) }, out)
  }

  #nextPlace(kind: ItemKind): Place {
    const output_index = this.#output.length
    return { item_id: itemId(kind, this.#asked.id, output_index), output_index }
  }

  #start(
    kind: ItemKind,
    block: number,
    create: (place: Place) => OpenItem,
    out: OutEvent[],
    announced: boolean = true,
  ): void {
    this.#close('completed', out)
    this.#flushState(out)
    this.#open = create(this.#nextPlace(kind))
    this.#block = block
    this.#announced = false
    if (announced) this.#announce(out)
  }

  #announce(out: OutEvent[]): void {
    const open = this.#open
    if (this.#announced || open === undefined) return
    this.#announced = true
    send('response.output_item.added', { output_index: open.place.output_index, item: open.opened() }, out)
  }

  #close(status: ItemStatus, out: OutEvent[]): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    // Reasoning of which nothing was said.
    if (!this.#announced && open instanceof OpenReasoning) return
    const item = open.close(status, out)
    if (!this.#announced)
      send(
        'response.output_item.added',
        { output_index: this.#output.length, item: { ...item, status: 'in_progress' } },
        out,
      )
    this.#done(item, out)
  }

  #done(item: Fields, out: OutEvent[]): void {
    send('response.output_item.done', { output_index: this.#output.length, item }, out)
    this.#output.push(item)
  }

  /** State of a call stands before it, that of a text after it. */
  #flushState(out: OutEvent[]): void {
    const state = this.#state
    if (state === undefined) return
    this.#state = undefined
    const { item_id, output_index } = this.#nextPlace('reasoning')
    const item = writtenReasoning(item_id, { text: '', state }, true)
    send('response.output_item.added', { output_index, item: { id: item_id, type: 'reasoning', summary: [] } }, out)
    this.#done(item, out)
  }
}
