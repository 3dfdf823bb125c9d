/** Reads the parts that a provider's `generate` yields: counts their blocks, and checks what a provider can get wrong. */
import type { Part } from '../../conversation/parts.ts'
import { maxChoices, maxToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import { unreadable } from '../../providers/failure.ts'
import type { GeneratedCall, GeneratedEnd, GeneratedPart, GeneratedUsage } from '../../providers/generated-part.ts'
import type { Usage } from '../../wire/usage.ts'
import { ownId } from '../chat/tool-calls.ts'
import type { EventReader } from '../format.ts'
import { Mistakes } from './mistakes.ts'

type ContentPart = Exclude<GeneratedPart, GeneratedCall | GeneratedEnd | GeneratedUsage | { kind: 'start' }>

interface OpenBlock {
  /** The number in the answer. */
  readonly number: number
  readonly kind: string
  /** Of a call. */
  hasInput: boolean
  ended: boolean
}

interface OpenChoice {
  /** The block that the next part may continue. */
  last: OpenBlock | undefined
  text: OpenBlock | undefined
  call: OpenBlock | undefined
  /** Calls that are not complete. */
  readonly open: Set<OpenBlock>
  calls: number
  ended: boolean
}

export class PartReader implements EventReader {
  readonly #mistakes: Mistakes
  readonly #choices: OpenChoice[] = []
  /** The blocks that the provider numbers itself, by its numbers. */
  readonly #numbered = new Map<number, OpenBlock>()
  readonly #ids = new Set<string>()
  #blocks = 0
  #ended = 0
  #usage: Usage | undefined

  constructor(provider: string) {
    this.#mistakes = new Mistakes(provider)
  }

  get done(): boolean {
    return this.#choices.length > 0 && this.#ended === this.#choices.length
  }

  read(event: unknown, out: Part[]): void {
    const part = this.#mistakes.requirePart(event)
    switch (part.kind) {
      case 'start':
        return void out.push(part)
      case 'usage':
        return this.#count(part, out)
      case 'end':
        return this.#end(part, out)
      case 'call':
        return this.#call(part, out)
      default:
        return this.#content(part, out)
    }
  }

  end(out: Part[]): void {
    if (this.#choices.length === 0) throw unreadable('the vendor ended the response before any content')
    for (const [choice, each] of this.#choices.entries()) {
      if (each.ended) continue
      this.#complete(each, choice, out)
      out.push({ kind: 'end', choice, end: { reason: each.calls > 0 ? 'calls' : 'stop' } })
    }
  }

  #content(part: ContentPart, out: Part[]): void {
    // Further fields of the choice or of the answer.
    if (part.kind === 'own' && (part.block ?? 0) < 0)
      return void out.push({ ...part, choice: part.choice ?? 0, block: -1 })
    const choice = part.choice ?? 0
    const open = this.#choice(choice, part.kind)
    switch (part.kind) {
      case 'input': {
        const call = this.#named(part.block, open.call)
        if (call === undefined || call.kind !== 'call') throw this.#mistakes.inputWithoutCall()
        if (call.ended) throw this.#mistakes.inputAfterEnd()
        if (part.text === '') return
        call.hasInput = true
        return void out.push({ kind: 'input', choice, block: call.number, text: part.text })
      }
      case 'ended': {
        const call = this.#named(part.block, open.call)
        if (call?.kind !== 'call') throw this.#mistakes.inputWithoutCall()
        return this.#close(open, call, choice, out)
      }
      case 'citation': {
        const text = this.#named(part.block, open.text)
        if (text?.kind !== 'text') throw this.#mistakes.citationWithoutText()
        return void out.push({ kind: 'citation', choice, block: text.number, citation: part.citation })
      }
      case 'state': {
        const block = this.#named(part.block, open.last)
        if (block === undefined) throw this.#mistakes.stateWithoutBlock()
        return void out.push({ kind: 'state', choice, block: block.number, state: part.state })
      }
      default: {
        const block = this.#block(open, part, choice, out)
        if (part.kind === 'text') open.text = block
        out.push({ ...part, choice, block: block.number })
      }
    }
  }

  #call({ input, id: given, by = 'function', ...part }: GeneratedCall, out: Part[]): void {
    const choice = part.choice ?? 0
    const open = this.#choice(choice, 'call')
    if (++open.calls > maxToolCalls) throw tooMany('tool calls', maxToolCalls)
    const block = this.#block(open, part, choice, out)
    open.call = block
    open.open.add(block)
    out.push({ ...part, choice, block: block.number, by, id: ownId(given, this.#ids) })
    if (!input) return
    block.hasInput = true
    out.push({ kind: 'input', choice, block: block.number, text: input })
  }

  #end({ end, usage, choice = 0 }: GeneratedEnd, out: Part[]): void {
    const open = this.#choice(choice, 'end')
    this.#complete(open, choice, out)
    open.ended = true
    this.#ended++
    if (usage !== undefined) this.#count({ kind: 'usage', usage }, out)
    out.push({ kind: 'end', choice, end })
  }

  #count({ usage, counters = {} }: GeneratedUsage, out: Part[]): void {
    this.#usage = this.#mistakes.requireUsage(usage, this.#usage)
    out.push({ kind: 'usage', usage: this.#usage, counters })
  }

  /** The block that a part continues or begins. */
  #block(
    open: OpenChoice,
    part: { kind: string; block?: number; type?: string },
    choice: number,
    out: Part[],
  ): OpenBlock {
    const kind = part.kind === 'media' ? `media ${part.type}` : part.kind
    const known = part.block === undefined ? undefined : this.#numbered.get(part.block)
    if (known !== undefined) {
      if (known.kind !== kind || !growing.has(kind)) throw this.#mistakes.otherKind(part.block, known.kind, kind)
      return (open.last = known)
    }
    if (part.block === undefined) {
      const { last } = open
      if (last?.kind === kind && growing.has(kind)) return last
      this.#complete(open, choice, out)
    }
    const block: OpenBlock = { number: this.#blocks++, kind, hasInput: false, ended: false }
    if (part.block !== undefined) this.#numbered.set(part.block, block)
    return (open.last = block)
  }

  #named(number: number | undefined, otherwise: OpenBlock | undefined): OpenBlock | undefined {
    return number === undefined ? otherwise : this.#numbered.get(number)
  }

  /** Ends all calls of a choice. */
  #complete(open: OpenChoice, choice: number, out: Part[]): void {
    for (const call of open.open) this.#close(open, call, choice, out)
  }

  /** Clients parse the input of each call, so it is never empty. */
  #close(open: OpenChoice, call: OpenBlock, choice: number, out: Part[]): void {
    if (call.ended) return
    call.ended = true
    open.open.delete(call)
    if (!call.hasInput) out.push({ kind: 'input', choice, block: call.number, text: '{}' })
    out.push({ kind: 'ended', choice, block: call.number })
  }

  #choice(index: number, kind: string): OpenChoice {
    if (!Number.isSafeInteger(index) || index < 0) throw this.#mistakes.choice(index)
    if (index >= maxChoices) throw tooMany('choices', maxChoices)
    while (this.#choices.length <= index) {
      this.#choices.push({ last: undefined, text: undefined, call: undefined, open: new Set(), calls: 0, ended: false })
    }
    const open = this.#choices[index] as OpenChoice
    if (open.ended) throw this.#mistakes.afterEnd(kind, index)
    return open
  }
}

/** Blocks that several parts make. */
const growing: ReadonlySet<string> = new Set(['text', 'reasoning', 'refusal', 'media audio'])
