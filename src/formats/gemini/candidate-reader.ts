/** Reads one candidate of a response, part by part. */
import { maxToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import { fieldsOf, isRecord, itemsOf, textOf, type Fields } from '../../wire/json.ts'
import { others, ownOf } from '../../conversation/own.ts'
import type { Own, TokenLogprob } from '../../conversation/conversation.ts'
import type { Part } from '../../conversation/parts.ts'
import { callId, ownId } from '../chat/tool-calls.ts'
import { messageState } from '../chat/states.ts'
import { readEnd, requireUsable } from './ends.ts'
import { readCitations } from './citations.ts'
import { readLogprobs } from './logprobs.ts'
import { readMedia } from './media.ts'
import { PartialArguments } from './partial-args.ts'
import { knownCall, knownMedia, knownText } from './parts-reader.ts'
import { ownParts, signed } from './state.ts'

const known = new Set(['content', 'index', 'finishReason', 'logprobsResult', 'groundingMetadata'])

export class CandidateReader {
  readonly #choice: number
  readonly #maker: string
  /** Blocks count through the answer. */
  readonly #count: { blocks: number }
  readonly #ids = new Set<string>()
  #kind: 'text' | 'reasoning' | undefined
  #block = -1
  /** The call whose arguments are still arriving. */
  #open: { readonly block: number; readonly args: PartialArguments } | undefined
  #reason: string | undefined
  #grounding: Fields | undefined
  /** Citations refer to them. */
  readonly #texts: { readonly block: number; text: string }[] = []
  /** Those of the next text. */
  #logprobs: readonly TokenLogprob[] | undefined

  constructor(choice: number, maker: string, count: { blocks: number }) {
    this.#choice = choice
    this.#maker = maker
    this.#count = count
  }

  get ended(): boolean {
    return this.#reason !== undefined
  }

  read(candidate: Fields, out: Part[]): void {
    const { content, finishReason: reason, logprobsResult, groundingMetadata } = candidate
    if (typeof reason === 'string' && reason !== '') {
      // Before the parts, which cannot be trusted with such a reason.
      requireUsable(reason, undefined)
      this.#reason = reason
    }
    this.#logprobs = readLogprobs(logprobsResult)
    for (const part of itemsOf(fieldsOf(content)['parts'])) if (isRecord(part)) this.#part(part, out)
    if (isRecord(groundingMetadata)) this.#grounding = { ...this.#grounding, ...groundingMetadata }
    const own = others(candidate, known)
    if (own !== undefined) this.#own(own, out)
  }

  /** Called once, after the last part. */
  end(out: Part[]): void {
    this.#closeCall(out)
    this.#endThought(out)
    if (this.#grounding !== undefined) {
      for (const { block, citation } of readCitations(this.#grounding, this.#texts))
        out.push({ kind: 'citation', choice: this.#choice, block, citation })
      this.#own({ groundingMetadata: this.#grounding }, out)
    }
    out.push({ kind: 'end', choice: this.#choice, end: readEnd(this.#reason ?? 'STOP', this.#ids.size > 0) })
  }

  #part(part: Fields, out: Part[]): void {
    const { text, thought, thoughtSignature: signature, functionCall, inlineData, fileData } = part
    if (isRecord(functionCall)) return this.#call(part, functionCall, signature, out)
    if (typeof text === 'string') return this.#say(part, text, thought === true ? 'reasoning' : 'text', signature, out)
    const media = readMedia(inlineData, fileData)
    if (media === undefined) return this.#ownPart(part, out)
    // Images that the model thinks with are not part of the answer.
    if (thought === true) return
    const block = this.#begin(undefined, out)
    out.push({ kind: 'media', choice: this.#choice, block, ...media, own: ownOf('gemini', part, knownMedia) })
    this.#sign(signature, out)
  }

  #say(part: Fields, text: string, kind: 'text' | 'reasoning', signature: unknown, out: Part[]): void {
    if (text === '' && textOf(signature) === '') return
    const own = ownOf('gemini', part, knownText)
    // A signature alone belongs to the text before it.
    if (text !== '' || this.#kind === undefined) {
      if (this.#kind !== kind || own !== undefined) this.#begin(kind, out)
      if (kind === 'text') this.#text(text, own, out)
      else out.push({ kind, choice: this.#choice, block: this.#block, text, own })
    }
    this.#sign(signature, out)
  }

  #text(text: string, own: Own | undefined, out: Part[]): void {
    const block = this.#block
    out.push({ kind: 'text', choice: this.#choice, block, text, logprobs: this.#logprobs, own })
    this.#logprobs = undefined
    const said = this.#texts.at(-1)
    if (said?.block === block) said.text += text
    else this.#texts.push({ block, text })
  }

  #call(part: Fields, call: Fields, signature: unknown, out: Part[]): void {
    const { name, id, args, partialArgs, willContinue } = call
    if (typeof name === 'string' && name !== '') {
      this.#closeCall(out)
      this.#openCall(part, name, id, signature, out)
      if (isRecord(args) && Object.keys(args).length > 0)
        out.push({ kind: 'input', choice: this.#choice, block: this.#block, text: JSON.stringify(args) })
      else this.#open = { block: this.#block, args: new PartialArguments() }
      if (this.#open === undefined) out.push({ kind: 'ended', choice: this.#choice, block: this.#block })
    }
    this.#open?.args.add(partialArgs)
    if (willContinue !== true) this.#closeCall(out)
  }

  #openCall(part: Fields, name: string, given: unknown, signature: unknown, out: Part[]): void {
    if (this.#ids.size === maxToolCalls) throw tooMany('tool calls', maxToolCalls)
    const id = ownId(callId(given), this.#ids)
    const block = this.#begin(undefined, out)
    const own = ownOf('gemini', part, knownCall)
    const state = textOf(signature) === '' ? undefined : signed(this.#maker, textOf(signature), id)
    out.push({ kind: 'call', choice: this.#choice, block, id, name, by: 'function', state, own })
  }

  #closeCall(out: Part[]): void {
    const open = this.#open
    this.#open = undefined
    if (open === undefined) return
    out.push({ kind: 'input', choice: this.#choice, block: open.block, text: open.args.text() })
    out.push({ kind: 'ended', choice: this.#choice, block: open.block })
  }

  /** What the vendor's built-in tools did (code, searches): not for the client, but the model needs it back. */
  #ownPart(part: Fields, out: Part[]): void {
    const block = this.#begin(undefined, out)
    out.push({ kind: 'reasoning', choice: this.#choice, block, text: '', form: 'sealed' })
    out.push({ kind: 'state', choice: this.#choice, block, state: ownParts(this.#maker, [part]) })
  }

  #sign(signature: unknown, out: Part[]): void {
    if (typeof signature !== 'string' || signature === '') return
    out.push({ kind: 'state', choice: this.#choice, block: this.#block, state: signed(this.#maker, signature) })
    // What follows belongs to another block.
    this.#kind = undefined
  }

  /** Thoughts without a signature have a state all the same: clients drop those that have none. */
  #endThought(out: Part[]): void {
    if (this.#kind !== 'reasoning') return
    const state = messageState(this.#maker, {}, 'reasoning_content')
    out.push({ kind: 'state', choice: this.#choice, block: this.#block, state })
    this.#kind = undefined
  }

  #begin(kind: 'text' | 'reasoning' | undefined, out: Part[]): number {
    this.#endThought(out)
    this.#kind = kind
    return (this.#block = this.#count.blocks++)
  }

  #own(value: Fields, out: Part[]): void {
    out.push({ kind: 'own', choice: this.#choice, block: -1, format: 'gemini', value })
  }
}
