/** What one inspector sees of an answer, and what passes it. */
import type { CallPart, OwnPart, Part, ReasoningPart, RefusalPart, TextPart } from '../conversation/parts.ts'
import type { AnswerVerdict, Inspector } from './contract.ts'
import { edited } from './edited.ts'
import { stringsIn, withStrings } from './strings.ts'
import { verdictOf, type Asking } from './verdict.ts'

type Spoken = TextPart | RefusalPart | ReasoningPart

/** A block whose text passes in windows. */
interface Open {
  readonly choice: number
  readonly block: number
  /** Its first part, without the text. */
  readonly first: Spoken | CallPart
  /** What has not passed yet. */
  text: string
  /** Whether a part of it has passed. */
  begun: boolean
  /** Whether its signature is void. */
  broken: boolean
}

/** What is asked of an answer that matters to its inspection. */
export interface AnswerForm {
  /** Whether its texts are JSON. */
  readonly isJson: boolean
  /** How many answers there are. */
  readonly choices: number
}

/** Takes the parts of one answer in their order, and returns those that pass. */
export class AnswerStage {
  readonly #inspector: Inspector
  readonly #asking: Asking
  readonly #form: AnswerForm
  readonly #characters: number
  readonly #ms: number
  readonly #open = new Map<number, Open>()
  /** The blocks whose signature is void. */
  readonly #broken = new Set<number>()
  /** The choices that were cut. */
  readonly #cut = new Set<number>()
  #lastBlock = -1

  constructor(inspector: Inspector, asking: Asking, form: AnswerForm) {
    const { characters = 64, ms = 50 } = inspector.holdBack ?? {}
    this.#inspector = inspector
    this.#asking = asking
    this.#form = form
    this.#characters = characters
    this.#ms = ms
  }

  get isNeeded(): boolean {
    return this.#inspector.answer !== undefined
  }

  /** Whether all choices were cut, so that nothing follows. */
  get isOver(): boolean {
    return this.#cut.size >= this.#form.choices
  }

  /** Milliseconds that text which is held back may wait. */
  get patienceMs(): number {
    return [...this.#open.values()].some(isHeld) ? this.#ms : Infinity
  }

  async take(parts: readonly Part[]): Promise<Part[]> {
    const out: Part[] = []
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at] as Part
      if ('choice' in part && this.#cut.has(part.choice)) continue
      if ('block' in part) this.#lastBlock = Math.max(this.#lastBlock, part.block)
      const next = parts[at + 1]
      // The pieces of a block that arrive together are one window.
      const goesOn = next !== undefined && 'block' in part && 'block' in next && next.block === part.block
      await this.#take(part, goesOn && next.kind === part.kind, out)
    }
    return out
  }

  /** Passes on what is held back, as it was seen. */
  late(): Part[] {
    const out: Part[] = []
    if (this.#ms !== Infinity) for (const open of this.#open.values()) this.#pass(open, open.text.length, [], out)
    return out
  }

  /** Everything has arrived. */
  async end(): Promise<Part[]> {
    const out: Part[] = []
    for (const open of this.#open.values()) await this.#close(open, out)
    return out
  }

  async #take(part: Part, goesOn: boolean, out: Part[]): Promise<void> {
    switch (part.kind) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        if (part.kind === 'reasoning' && part.form === 'sealed') break
        return this.#say(await this.#opened(part, out), part.text, goesOn, out)
      case 'call':
        return this.#say(await this.#opened(part, out), '', false, out)
      case 'input': {
        const open = this.#open.get(part.block)
        return open === undefined ? void out.push(part) : this.#say(open, part.text, goesOn, out)
      }
      case 'citation': {
        const { range: _, own: __, ...citation } = part.citation
        return void out.push(this.#broken.has(part.block) ? { ...part, citation } : part)
      }
      case 'start':
      case 'usage':
        return void out.push(part)
    }
    // Other blocks end where the next one begins; calls may be written at the same time.
    for (const open of this.#open.values())
      if (
        open.choice === part.choice &&
        (open.first.kind !== 'call' || !('block' in part) || open.block === part.block)
      )
        await this.#close(open, out)
    if (this.#cut.has(part.choice) || (part.kind === 'state' && this.#broken.has(part.block))) return
    if (part.kind === 'own' && part.block >= 0) await this.#sayOwn(part, out)
    else out.push(part)
  }

  /** The block of a part that begins it or continues it. */
  async #opened(part: Spoken | CallPart, out: Part[]): Promise<Open> {
    const { choice, block } = part
    const known = this.#open.get(block)
    if (known !== undefined) return known
    for (const open of this.#open.values())
      if (open.choice === choice && open.first.kind !== 'call') await this.#close(open, out)
    const open = { choice, block, first: part, text: '', begun: false, broken: false }
    this.#open.set(block, open)
    return open
  }

  async #say(open: Open, text: string, goesOn: boolean, out: Part[]): Promise<void> {
    open.text += text
    // A signature comes with the beginning of a call, so that its input must be known before.
    const { first } = open
    if (goesOn || (first.kind === 'call' && first.state !== undefined)) return
    await this.#look(open, false, out)
  }

  async #close(open: Open, out: Part[]): Promise<void> {
    this.#open.delete(open.block)
    if (!this.#cut.has(open.choice)) await this.#look(open, true, out)
  }

  async #look(open: Open, ended: boolean, out: Part[]): Promise<void> {
    const { first, text, choice, block } = open
    const isCall = first.kind === 'call'
    const window = {
      kind: isCall ? ('input' as const) : first.kind,
      text,
      ended,
      isJson: isCall ? first.by === 'function' : first.kind === 'text' && this.#form.isJson,
      tool: isCall ? first.name : undefined,
      choice,
      block,
    }
    const inspector = this.#inspector
    const verdict = await verdictOf(inspector, this.#asking, () => inspector.answer?.(window, this.#asking.call))
    const { hold = this.#characters, edits = [], reversible, cut }: AnswerVerdict = verdict || {}
    if (cut !== undefined) return this.#end(open, cut, out)
    if (edits.length > 0 && (reversible !== true || first.kind === 'reasoning')) {
      open.broken = true
      this.#broken.add(block)
    }
    const kept = ended ? 0 : Math.min(hold, this.#characters, text.length)
    this.#pass(open, text.length - kept, edits, out)
  }

  /** Passes the text up to `end`, or to the end of a replacement that begins before. */
  #pass(open: Open, until: number, edits: AnswerVerdict['edits'] & object, out: Part[]): void {
    const { text } = open
    const now = edits.filter(({ start }) => start < until)
    let end = Math.max(until, now.at(-1)?.end ?? 0)
    // Both halves of a character are sent together.
    if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? '')) end--
    open.text = text.slice(end)
    const passed = edited(text.slice(0, end), now)
    const { first, choice, block, begun } = open
    if (passed === '' && (begun || open.text !== '')) return
    open.begun = true
    if (first.kind === 'call') {
      const { state: _, ...call } = first
      if (!begun) out.push(open.broken ? call : first)
      if (passed !== '') out.push({ kind: 'input', choice, block, text: passed })
      return
    }
    // The tokens of a text are not those of a changed one, and not in the same pieces.
    const { logprobs: _, own, ...rest } = first as TextPart
    out.push(begun || own === undefined ? { ...rest, text: passed } : { ...rest, text: passed, own })
  }

  /** The filter ends the choice. */
  #end({ choice }: Open, words: string, out: Part[]): void {
    this.#cut.add(choice)
    for (const open of this.#open.values()) {
      if (open.choice !== choice) continue
      this.#open.delete(open.block)
      if (open.first.kind === 'call' && open.begun) out.push({ kind: 'ended', choice, block: open.block })
    }
    if (words !== '') out.push({ kind: 'refusal', choice, block: ++this.#lastBlock, text: words })
    out.push({ kind: 'end', choice, end: { reason: 'filter' } })
  }

  /** What only one wire format has: its texts are seen one by one. */
  async #sayOwn(part: OwnPart, out: Part[]): Promise<void> {
    const { choice, block } = part
    const texts = stringsIn(part.value)
    const seen: string[] = []
    for (const text of texts) {
      const said: Part[] = []
      const first: TextPart = { kind: 'text', choice, block, text }
      await this.#look({ choice, block, first, text, begun: false, broken: false }, true, said)
      if (this.#cut.has(choice)) return void out.push(...said)
      seen.push(...said.map((each) => (each as TextPart).text))
    }
    out.push({ ...part, value: withStrings(part.value, seen) })
  }
}

function isHeld({ text, first }: Open): boolean {
  return text !== '' && !(first.kind === 'call' && first.state !== undefined)
}
