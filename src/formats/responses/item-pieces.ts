/** Texts, reasoning and inputs of calls, piece by piece, and at their ends what did not arrive in pieces. */
import { maxToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import { unreadable } from '../../providers/failure.ts'
import { itemsOf, textOf } from '../../wire/json.ts'
import type { Fields, TokenLogprob } from '../../conversation/conversation.ts'
import { asOwn } from '../../conversation/own.ts'
import type { Part } from '../../conversation/parts.ts'
import { tokensIn } from '../chat/logprobs.ts'
import { readAnnotation } from './citations.ts'
import { between, hasText, isNew, isOtherForm, openItem, restOf, type OpenItem, type Piece } from './pieces.ts'

export class ItemPieces {
  /** By `output_index`. */
  readonly items: Map<number, OpenItem> = new Map()
  hasContent = false
  /** Whether pieces do not say of what they are: then what does not continue one of them may have arrived in them. */
  isLoose = false
  #last: OpenItem | undefined
  #lastIndex = -1
  #blocks = 0

  nextBlock(): number {
    return this.#blocks++
  }

  open(index: number, type: string): OpenItem {
    if (index === this.#lastIndex && this.#last !== undefined) return this.#last
    let item = this.items.get(index)
    if (item === undefined) {
      if (this.items.size === maxToolCalls) throw tooMany('items', maxToolCalls)
      item = openItem(type)
      this.items.set(index, item)
    }
    this.#last = item
    this.#lastIndex = index
    return item
  }

  place(at: unknown): number {
    if (typeof at === 'number') return at
    this.isLoose = true
    return 0
  }

  #piece(item: OpenItem, at: number): Piece {
    let piece = item.pieces.get(at)
    if (piece === undefined) {
      piece = {
        block: item.block < 0 ? this.nextBlock() : item.block,
        text: '',
        tokens: 0,
        cited: new Set(),
        early: [],
      }
      item.pieces.set(at, piece)
    }
    item.piece = piece
    item.at = at
    return piece
  }

  text(kind: 'text' | 'refusal', event: Fields, out: Part[]): void {
    const { delta, output_index: index, content_index: at, logprobs } = event
    if (typeof delta !== 'string' || delta === '') return
    const item = this.open(this.place(index), 'message')
    this.#say(item, kind, this.place(at), delta, tokensIn(logprobs), out)
  }

  #say(
    item: OpenItem,
    kind: 'text' | 'refusal',
    at: number,
    text: string,
    logprobs: readonly TokenLogprob[] | undefined,
    out: Part[],
  ): void {
    const number = at * 2 + (kind === 'text' ? 0 : 1)
    const piece = item.at === number && item.piece !== undefined ? item.piece : this.#piece(item, number)
    const own = item.written && piece.text === '' ? { part: true } : item.own
    item.own = undefined
    item.written = this.hasContent = true
    piece.text += text
    if (logprobs !== undefined) piece.tokens += logprobs.length
    out.push({ kind, choice: 0, block: piece.block, text, logprobs, own: asOwn('responses', own) })
    if (piece.early.length > 0) this.#annotate(piece, piece.early.splice(0), out)
  }

  reason(event: Fields, form: 'summary' | undefined, out: Part[]): void {
    const { delta, output_index: index, summary_index: summary, content_index: content } = event
    if (typeof delta !== 'string' || delta === '') return
    const item = this.open(this.place(index), 'reasoning')
    this.#think(item, form, this.place(form === 'summary' ? summary : content), delta, out)
  }

  #think(item: OpenItem, form: 'summary' | undefined, at: number, delta: string, out: Part[]): void {
    if (item.block < 0) item.block = this.nextBlock()
    const piece = this.#piece(item, at * 2 + (form === 'summary' ? 0 : 1))
    if (piece.text === '' && item.written) item.between = between
    const text = item.between + delta
    item.between = ''
    piece.text += delta
    item.written = this.hasContent = true
    out.push({ kind: 'reasoning', choice: 0, block: item.block, text, form, own: asOwn('responses', item.own) })
    item.own = undefined
  }

  nextSummary(event: Fields): void {
    const item = this.open(this.place(event['output_index']), 'reasoning')
    if (item.written) item.between = between
  }

  input({ output_index: index, delta }: Fields, out: Part[]): void {
    const item = this.open(this.place(index), 'function_call')
    if (typeof delta !== 'string' || delta === '') return
    if (item.block < 0) throw unreadable('the vendor sent the input of a tool call before its name')
    this.#piece(item, 0).text += delta
    out.push({ kind: 'input', choice: 0, block: item.block, text: delta })
  }

  inputDone(event: Fields, whole: unknown, out: Part[]): void {
    const item = this.items.get(this.place(event['output_index']))
    if (item !== undefined && item.block >= 0 && !item.done) this.inputRest(item, textOf(whole), out)
  }

  inputRest(item: OpenItem, whole: string, out: Part[]): void {
    const text = restOf(item.pieces.get(0), whole)
    if (text === '') return
    this.#piece(item, 0).text += text
    out.push({ kind: 'input', choice: 0, block: item.block, text })
  }

  cite({ output_index: index, content_index: at, annotation }: Fields, out: Part[]): void {
    const item = this.items.get(this.place(index))
    const piece = item && this.#piece(item, this.place(at) * 2)
    if (piece !== undefined && isNew(piece, annotation)) this.#annotate(piece, [annotation], out)
  }

  #annotate(piece: Piece, annotations: readonly unknown[], out: Part[]): void {
    for (const each of annotations) {
      const citation = readAnnotation(each)
      if (piece.text === '') piece.early.push(each)
      else if (citation !== undefined) out.push({ kind: 'citation', choice: 0, block: piece.block, citation })
    }
  }

  partDone(event: Fields, of: string, part: Fields, out: Part[]): void {
    const { output_index: index, content_index: content, summary_index: summary } = event
    this.rest(this.open(this.place(index), of), this.place(content ?? summary), part, out)
  }

  /** What a part has that did not arrive in pieces. */
  rest(item: OpenItem, at: number, part: Fields, out: Part[]): void {
    const { type, annotations, logprobs } = part
    const odd = type === 'refusal' || type === 'reasoning_text'
    if (item.done || (!odd && type !== 'output_text' && type !== 'summary_text')) return
    const whole = textOf(part[type === 'refusal' ? type : 'text'])
    const known = item.pieces.get(at * 2 + (odd ? 1 : 0))
    if (!known?.text && item.written && (this.isLoose || hasText(item, whole))) return
    const text = restOf(known, whole)
    if (type === 'summary_text' || type === 'reasoning_text') {
      if (text !== '' && !isOtherForm(item, odd)) this.#think(item, odd ? undefined : 'summary', at, text, out)
      return
    }
    const isSame = (known?.text ?? '') + text === whole
    const tokens = isSame ? tokensIn(itemsOf(logprobs).slice(known?.tokens ?? 0)) : undefined
    if (text !== '' || tokens !== undefined) this.#say(item, odd ? 'refusal' : 'text', at, text, tokens, out)
    const piece = item.pieces.get(at * 2)
    if (odd || piece === undefined) return
    const further = itemsOf(annotations).filter((each) => isNew(piece, each))
    this.#annotate(piece, further, out)
  }
}
