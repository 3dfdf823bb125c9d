/** Writes the events of a streamed message. Its blocks come one after the other: what belongs to another block waits. */
import type { Citation, Fields, State } from '../../conversation/conversation.ts'
import { objectOf } from '../../conversation/json.ts'
import type { CallPart, End, OwnPart, Part, ReasoningPart, UsagePart } from '../../conversation/parts.ts'
import { useless } from '../../providers/failure.ts'
import { usageOf } from '../../wire/usage.ts'
import { send, type Asked, type EventWriter, type OutEvent } from '../format.ts'
import { textInstead } from '../instead.ts'
import { mediaText } from '../media.ts'
import { OneByOne, type BlockPart } from '../one-by-one.ts'
import { withRequired } from './answer.ts'
import { writeCitation } from './citations.ts'
import { mayCut, writeEnd, writeUsage } from './ends.ts'
import { forClient, unsigned } from './states.ts'
import { toolId } from './tool-id.ts'

/** The block that was started and not ended. */
interface OpenBlock {
  readonly kind: 'text' | 'reasoning' | 'call'
  readonly block: number
  /** Of reasoning. */
  signature: string
  /** Of a call, so far. */
  input: string
}

export class MessageEventWriter implements EventWriter {
  readonly #asked: Asked
  #index = -1
  #open: OpenBlock | undefined
  /** The reasoning whose state is all there is of it. */
  #sealed = -1
  /** The last block of this wire alone, which has its state in itself. */
  #lastOwn = -1
  /** The block for the state of a text, which comes at its end: for clients whose last block must be the text. */
  #carrier: number | undefined
  #opensCarriers = false
  /** State of a text or a call, which is written as a separate block. */
  #state: State | undefined
  /** White space before a text: vendors reject texts of white space alone when clients send them back. */
  #space = ''
  /** Further fields of a block that has not begun. */
  #further: { readonly block: number; readonly fields: Fields } | undefined
  readonly #order = new OneByOne((part, out) => this.#content(part, out))
  #hasText = false
  #hasCalls = false
  /** Whether the input of a call is no JSON object. */
  #hasBrokenCall = false
  #refusal = ''
  #end: End | undefined
  #own: Fields | undefined
  #container: unknown = null
  #usage: UsagePart | undefined
  #hasBegun = false

  constructor(asked: Asked) {
    this.#asked = asked
  }

  write(part: Part, out: OutEvent[]): void {
    switch (part.kind) {
      case 'start':
        this.#opensCarriers = part.signsTexts === true && this.#asked.readsLastBlock === true
        return this.#begin(part.own?.messages, out)
      case 'usage':
        this.#usage = part
        return
      case 'end':
        if (part.choice === 0) this.#end = part.end
        return
      default:
        if (part.choice > 0) return
        if (!this.#hasBegun) this.#begin(undefined, out)
        this.#order.add(part, out)
    }
  }

  end(out: OutEvent[]): void {
    if (!this.#hasBegun) this.#begin(undefined, out)
    do this.#close(out)
    while (this.#order.release(out))
    const isRefused = this.#refusal !== '' && this.#end?.reason === 'stop'
    if (this.#refusal !== '' && this.#end?.own?.messages?.['stop_details'] === undefined) {
      this.#text(-1, this.#refusal, out)
      this.#close(out)
    }
    // Only now: the vendor reports what it charges at its end.
    if (this.#hasBrokenCall && !mayCut(this.#end))
      throw useless('the model wrote a tool call whose arguments are not a JSON object')
    // A message of state alone would be an answer without content.
    if (this.#hasCalls || (this.#hasText && this.#asked.readsLastBlock !== true)) this.#seal(out)
    const end = isRefused ? { ...this.#end, reason: 'refused' as const } : this.#end
    const { delta, ...own } = this.#own ?? {}
    const ended = { ...writeEnd(end, this.#hasCalls), container: this.#container, ...(delta as Fields | undefined) }
    send('message_delta', { delta: ended, usage: writeUsage(this.#usage ?? {}), ...own }, out)
    send('message_stop', {}, out)
  }

  #begin(own: Fields | undefined, out: OutEvent[]): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    // Of a whole answer.
    this.#container = own?.['container'] ?? null
    const { id, model, promptTokens = 1 } = this.#asked
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: writeUsage({ usage: usageOf(Math.max(1, promptTokens), 1) }),
      ...own,
    }
    send('message_start', { message }, out)
  }

  #content(part: BlockPart, out: OutEvent[]): void {
    switch (part.kind) {
      case 'text':
        return this.#text(part.block, part.text, out, part.own?.messages)
      case 'reasoning':
        return this.#reason(part, out)
      case 'call':
        return this.#call(part, out)
      case 'input':
        if (this.#open?.kind !== 'call' || this.#open.block !== part.block || part.text === '') return
        this.#open.input += part.text
        return this.#delta({ type: 'input_json_delta', partial_json: part.text }, out)
      case 'ended':
        if (this.#open?.kind === 'call' && this.#open.block === part.block) this.#close(out)
        return
      case 'state':
        return this.#keep(part.state, part.block, out)
      case 'citation':
        return this.#cite(part.citation, out)
      case 'refusal':
        this.#refusal += part.text
        return
      case 'own':
        return this.#ownBlock(part, out)
      case 'media':
        this.#text(part.block, mediaText(part, this.#open?.kind === 'text' && this.#open.block === part.block), out)
    }
  }

  #text(block: number, text: string, out: OutEvent[], own?: Fields): void {
    if (this.#open?.kind === 'text' && this.#open.block === block) {
      if (text !== '') this.#delta({ type: 'text_delta', text }, out)
      return
    }
    if (this.#open?.kind === 'text') this.#close(out)
    if (own !== undefined) this.#further = { block, fields: own }
    this.#space += text
    if (this.#space.trim() === '') return
    const whole = this.#space
    this.#close(out)
    this.#seal(out)
    this.#hasText = true
    if (this.#opensCarriers && this.#asked.reasoning !== 'none') {
      this.#carrier = this.#index + 1
      send('content_block_start', { index: ++this.#index, content_block: sealedBlock }, out)
    }
    this.#start('text', block, { type: 'text', text: '', ...this.#furtherOf(block) }, out)
    this.#delta({ type: 'text_delta', text: whole }, out)
  }

  #reason({ block, text, form, own }: ReasoningPart, out: OutEvent[]): void {
    const { reasoning } = this.#asked
    if (reasoning === 'none') return
    if (this.#open?.kind !== 'reasoning' || this.#open.block !== block) {
      this.#close(out)
      this.#sealed = form === 'sealed' ? block : -1
      if (own?.messages !== undefined) this.#further = { block, fields: own.messages }
      if (form === 'sealed') return
      this.#start('reasoning', block, { type: 'thinking', thinking: '', signature: '', ...this.#furtherOf(block) }, out)
    }
    if (text !== '' && reasoning !== 'hidden') this.#delta({ type: 'thinking_delta', thinking: text }, out)
  }

  #call({ block, id, name, state, own }: CallPart, out: OutEvent[]): void {
    this.#close(out)
    if (state !== undefined && this.#asked.reasoning !== 'none') this.#state = state
    this.#seal(out)
    this.#hasCalls = true
    this.#start('call', block, { type: 'tool_use', id: toolId(id), name, input: {}, ...own?.messages }, out)
  }

  #keep(state: State, block: number, out: OutEvent[]): void {
    if (this.#asked.reasoning === 'none' || block === this.#lastOwn) return
    if (this.#sealed === block) {
      this.#sealed = -1
      this.#whole({ type: 'redacted_thinking', data: forClient(state) ?? '', ...this.#furtherOf(block) }, out)
    } else if (this.#open?.kind === 'reasoning' && this.#open.block === block)
      this.#open.signature = forClient(state) ?? ''
    else this.#state = state
  }

  #cite(cited: Citation, out: OutEvent[]): void {
    const citation = this.#open?.kind === 'text' ? writeCitation(cited) : undefined
    if (citation !== undefined) this.#delta({ type: 'citations_delta', citation }, out)
  }

  #ownBlock(part: OwnPart, out: OutEvent[]): void {
    const { block, format, value } = part
    if (format === 'messages' && block >= 0) {
      this.#close(out)
      this.#lastOwn = block
      this.#whole(value, out)
    } else if (format === 'messages') this.#own = { ...this.#own, ...value }
    else if (part.instead !== undefined) this.#text(block, textInstead(part), out)
  }

  /** Its end comes before that of the text: clients take blocks in the order of their ends. */
  #closeCarrier(out: OutEvent[]): void {
    const index = this.#carrier
    if (index === undefined) return
    const signature = (this.#state && forClient(this.#state)) ?? unsigned
    this.#carrier = this.#state = undefined
    send('content_block_delta', { index, delta: { type: 'signature_delta', signature } }, out)
    send('content_block_stop', { index }, out)
  }

  #furtherOf(block: number): Fields | undefined {
    return this.#further?.block === block ? this.#further.fields : undefined
  }

  /** State that no block holds yet: in one before what it belongs to, or after it if it came late. */
  #seal(out: OutEvent[]): void {
    if (this.#state === undefined) return
    const signature = forClient(this.#state) ?? ''
    this.#state = undefined
    this.#start('reasoning', -1, sealedBlock, out, signature)
    this.#close(out)
  }

  /** A block that has no deltas. */
  #whole(content_block: Fields, out: OutEvent[]): void {
    this.#space = ''
    send('content_block_start', { index: ++this.#index, content_block }, out)
    send('content_block_stop', { index: this.#index }, out)
  }

  #start(kind: OpenBlock['kind'], block: number, content_block: Fields, out: OutEvent[], signature: string = ''): void {
    this.#space = ''
    this.#open = { kind, block, signature, input: '' }
    send('content_block_start', { index: ++this.#index, content_block: withRequired(content_block) }, out)
  }

  #delta(delta: Fields, out: OutEvent[]): void {
    out.push({ type: 'content_block_delta', index: this.#index, delta })
  }

  #close(out: OutEvent[]): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    if (open.kind === 'text') this.#closeCarrier(out)
    if (open.kind === 'reasoning') this.#delta({ type: 'signature_delta', signature: open.signature || unsigned }, out)
    else if (open.kind === 'call') {
      if (open.input === '') this.#delta({ type: 'input_json_delta', partial_json: '{}' }, out)
      else if (objectOf(open.input) === undefined) this.#hasBrokenCall = true
    }
    out.push({ type: 'content_block_stop', index: this.#index })
  }
}

const sealedBlock: Fields = { type: 'thinking', thinking: '', signature: '' }
