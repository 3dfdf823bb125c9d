/** The parts of one answer, of which several vendors wrote a piece each. */
import type { Part, UsagePart } from '../../../conversation/parts.ts'
import { estimateTokens } from '../../../wire/counts.ts'
import { usageOf, type Usage } from '../../../wire/usage.ts'
import { Overlap } from './overlap.ts'

type Numbered = Exclude<Part, { kind: 'start' | 'usage' | 'end' }>

/**
 * Joins the parts of a vendor to those of the vendors before, which broke off. A call is passed on when it is complete, so that
 * one that breaks off is begun again.
 */
export class JoinedParts {
  /** The text so far, which a continuation must not repeat. */
  text = ''
  /** Whether calls were passed on: the answer cannot go on after them, and is an answer as it is. */
  hasCalls = false
  /** Whether the model declines, which another one may not. */
  isRefusal = false
  /** Whether the choice has ended, so that nothing is missing. */
  isOver = false
  #hasStarted = false
  #last: { readonly number: number; readonly kind: string } | undefined
  /** The numbers of the blocks of the vendor, by its own numbers. */
  #numbers = new Map<number, number>()
  /** Calls that are not complete, by the vendor's numbers. */
  #calls = new Map<number, Numbered[]>()
  #overlap: Overlap | undefined
  /** What the vendors before have used. */
  #before: { readonly prompt: number | undefined; readonly completion: number } | undefined
  #reported: Usage | undefined
  #bytes = 0
  readonly #promptTokens: number
  /** What the vendor before has itself used. */
  used: Usage

  /** `promptTokens`: an estimate, where a vendor reports none. */
  constructor(promptTokens: number) {
    this.#promptTokens = promptTokens
    this.used = usageOf(0, 0)
  }

  /** The parts that follow are those of the next vendor. `out`: gets what was held back of the one before. */
  next(out: Part[]): void {
    this.#release(out)
    this.used = this.ownUsage
    const written = Math.max(estimateTokens(this.#bytes), this.#reported?.completion_tokens ?? 0)
    const prompt = this.#before?.prompt ?? this.#reported?.prompt_tokens
    this.#before = { prompt, completion: written + (this.#before?.completion ?? 0) }
    this.#reported = undefined
    this.#bytes = 0
    this.#calls.clear()
    this.#numbers = new Map()
    this.#overlap = this.text === '' ? undefined : new Overlap(this.text)
  }

  /** What the vendor has itself used: it also reads the text so far. */
  get ownUsage(): Usage {
    const { completion = 0 } = this.#before ?? {}
    return this.#reported ?? usageOf(this.#promptTokens + completion, estimateTokens(this.#bytes))
  }

  get isContinued(): boolean {
    return this.#before !== undefined
  }

  /** The tokens that the answer has so far. */
  get written(): number {
    return (this.#before?.completion ?? 0) + estimateTokens(this.#bytes)
  }

  add(part: Part, out: Part[]): void {
    switch (part.kind) {
      case 'start':
        if (!this.#hasStarted) out.push(part)
        this.#hasStarted = true
        return
      case 'usage':
        return void out.push(this.#counted(part))
      case 'end':
        this.#release(out)
        for (const call of this.#calls.values()) this.#pass(call, out)
        this.#calls.clear()
        this.isOver = true
        return void out.push(part)
      case 'call':
        this.#calls.set(part.block, [part])
        this.#bytes += part.name.length
        return
      case 'input':
      case 'ended':
        return this.#ofCall(part, out)
      case 'text':
        this.#bytes += Buffer.byteLength(part.text)
        return this.#say(part, out)
      case 'refusal':
      case 'reasoning':
        this.isRefusal ||= part.kind === 'refusal'
        this.#bytes += Buffer.byteLength(part.text)
        return this.#number(part, out)
      default:
        this.#number(part, out)
    }
  }

  #ofCall(part: Extract<Part, { kind: 'input' | 'ended' }>, out: Part[]): void {
    const call = this.#calls.get(part.block)
    if (call === undefined) return this.#number(part, out)
    call.push(part)
    if (part.kind === 'input') this.#bytes += Buffer.byteLength(part.text)
    else {
      this.#calls.delete(part.block)
      this.#pass(call, out)
    }
  }

  #pass(call: readonly Numbered[], out: Part[]): void {
    this.#release(out)
    this.hasCalls = true
    for (const part of call) this.#number(part, out)
  }

  #say(part: Extract<Part, { kind: 'text' }>, out: Part[]): void {
    const text = this.#overlap === undefined ? part.text : this.#overlap.take(part.text)
    if (text === '' && part.text !== '') return
    this.text += text
    this.#number({ ...part, text }, out)
  }

  /** What is held back, because it may repeat the text before, is new after all. */
  #release(out: Part[]): void {
    const text = this.#overlap?.rest() ?? ''
    this.#overlap = undefined
    if (text === '') return
    this.text += text
    this.#number({ kind: 'text', choice: 0, block: -2, text }, out)
  }

  /** With the number in the joined answer: a text that begins a continuation belongs to the text before. */
  #number(part: Numbered, out: Part[]): void {
    if (part.kind === 'own' && part.block === -1) return void out.push(part)
    let number = this.#numbers.get(part.block)
    if (number === undefined) {
      const continues = part.kind === 'text' && this.#before !== undefined && this.#numbers.size === 0
      const last = this.#last
      number = continues && last?.kind === 'text' ? last.number : (last?.number ?? -1) + 1
      this.#numbers.set(part.block, number)
      if (number !== last?.number) this.#last = { number, kind: part.kind }
    }
    out.push({ ...part, block: number })
  }

  /** The prompt counts once, and what each vendor has written. */
  #counted(part: UsagePart): UsagePart {
    const before = this.#before
    if (part.usage !== undefined) this.#reported = part.usage
    if (before === undefined || part.usage === undefined) return part
    const { prompt_tokens: prompt, completion_tokens: completion } = part.usage
    const own = before.prompt ?? Math.max(1, prompt - before.completion)
    return { kind: 'usage', usage: usageOf(own, before.completion + completion), counters: {} }
  }
}
