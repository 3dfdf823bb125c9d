/** Writes the responses of a stream, each with the new parts. The last one has the finish reason and the usage. */
import type { CallBlock, Fields, ReasoningBlock, State, TokenLogprob } from '../../conversation/conversation.ts'
import type { Mutable } from '../../conversation/own.ts'
import type { End, Part, RefusalPart, TextPart } from '../../conversation/parts.ts'
import type { Asked, EventWriter, OutEvent } from '../format.ts'
import { callPart, mediaPart, PartWriter } from './candidate-writer.ts'
import { writeCitations, type CitedBlock } from './citations.ts'
import { textInstead } from '../instead.ts'
import { finishName } from './ends.ts'
import { writeLogprobs } from './logprobs.ts'
import { GoogleStateReader } from './state.ts'
import { writeUsage } from './usage.ts'

interface OpenChoice {
  readonly writer: PartWriter
  /** A call arrives whole, so its input is collected. */
  readonly calls: Map<number, Mutable<CallBlock>>
  reasoning: { readonly block: number; readonly read: Mutable<ReasoningBlock> } | undefined
  /** Citations refer to them. */
  readonly texts: { readonly block: number; text: string }[]
  readonly cited: CitedBlock[]
  own: Fields | undefined
  end: End | undefined
}

export class GeminiEventWriter implements EventWriter {
  readonly #asked: Asked
  readonly #states = new GoogleStateReader()
  readonly #choices: OpenChoice[] = []
  #head: Fields
  #usage: Extract<Part, { kind: 'usage' }> | undefined

  constructor(asked: Asked) {
    this.#asked = asked
    this.#head = { modelVersion: asked.model, responseId: asked.id }
  }

  write(part: Part, out: OutEvent[]): void {
    switch (part.kind) {
      case 'start':
        if (part.own?.gemini !== undefined) this.#head = { ...this.#head, ...part.own.gemini }
        return
      case 'usage':
        this.#usage = part
        return
      case 'own':
        return this.#own(part, out)
      case 'end':
        this.#of(part.choice).end = part.end
        return
      default:
        this.#content(part, this.#of(part.choice), out)
    }
  }

  end(out: OutEvent[]): void {
    for (const [index, choice] of this.#choices.entries()) {
      for (const call of choice.calls.values()) this.#push(index, choice.writer.signed(callPart(call), call.state), out)
      this.#reasoned(choice, index, out)
      const rest = choice.writer.rest()
      if (rest !== undefined) this.#push(index, rest, out)
    }
    const blocked = this.#choices.length === 1 ? this.#choices[0]?.end?.own?.gemini?.['promptFeedback'] : undefined
    const body = blocked === undefined ? { candidates: this.#choices.map(lastOf) } : { promptFeedback: blocked }
    out.push({ ...body, usageMetadata: writeUsage(this.#usage ?? {}), ...this.#head })
  }

  #content(
    part: Exclude<Part, { kind: 'start' | 'usage' | 'own' | 'end' }>,
    choice: OpenChoice,
    out: OutEvent[],
  ): void {
    const { writer } = choice
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return this.#text(part, choice, out)
      case 'reasoning':
        return this.#reason(part, choice, out)
      case 'call': {
        this.#reasoned(choice, part.choice, out)
        const { kind, id, name, by, state, own } = part
        choice.calls.set(part.block, { kind, id, name, by, input: '', state, own })
        return
      }
      case 'input': {
        const call = choice.calls.get(part.block)
        if (call !== undefined) call.input += part.text
        return
      }
      case 'ended': {
        const call = choice.calls.get(part.block)
        if (call === undefined) return
        choice.calls.delete(part.block)
        return this.#push(part.choice, writer.signed(callPart(call), call.state), out)
      }
      case 'state':
        return this.#state(part.block, part.state, choice, part.choice, out)
      case 'media':
        this.#reasoned(choice, part.choice, out)
        return this.#push(part.choice, writer.signed(mediaPart(part), undefined), out)
      case 'citation':
        choice.cited.push(part)
    }
  }

  #text(
    { choice: index, block, text, logprobs, own }: TextPart | RefusalPart,
    choice: OpenChoice,
    out: OutEvent[],
  ): void {
    this.#reasoned(choice, index, out)
    if (text === '' && logprobs === undefined) return
    const last = choice.texts.at(-1)
    if (last?.block === block) last.text += text
    else choice.texts.push({ block, text })
    const said = { text, ...own?.gemini }
    const part = choice.writer.hasReasoning ? choice.writer.signed(said, undefined) : said
    this.#push(index, part, out, logprobs)
  }

  #reason(part: Extract<Part, { kind: 'reasoning' }>, choice: OpenChoice, out: OutEvent[]): void {
    if (choice.reasoning?.block !== part.block) {
      this.#reasoned(choice, part.choice, out)
      const { kind, text, form } = part
      choice.reasoning = { block: part.block, read: { kind, text, form } }
    } else choice.reasoning.read.text += part.text
    const thought = choice.writer.thought(part)
    if (thought !== undefined) this.#push(part.choice, thought, out)
  }

  /** Of reasoning, it waits for the next part; of a text, it has a part of its own. */
  #state(block: number, state: State, choice: OpenChoice, index: number, out: OutEvent[]): void {
    const call = choice.calls.get(block)
    if (call !== undefined) call.state = state
    else if (choice.reasoning?.block === block) choice.reasoning.read.state = state
    else {
      const rest = choice.writer.rest(state)
      if (rest !== undefined) this.#push(index, rest, out)
    }
  }

  /** The reasoning so far is complete. */
  #reasoned(choice: OpenChoice, index: number, out: OutEvent[]): void {
    if (choice.reasoning === undefined) return
    for (const part of choice.writer.reasoned(choice.reasoning.read)) this.#push(index, part, out)
    choice.reasoning = undefined
  }

  #own(part: Extract<Part, { kind: 'own' }>, out: OutEvent[]): void {
    const { choice, block, format, value } = part
    if (format !== 'gemini') {
      if (block < 0) return
      const open = this.#of(choice)
      this.#text({ kind: 'text', choice, block, text: textInstead(part) }, open, out)
      // Its state may follow.
      return this.#reason({ kind: 'reasoning', choice, block, text: '', form: 'sealed' }, open, out)
    }
    if (choice < 0) this.#head = { ...this.#head, ...value }
    else if (block < 0) this.#of(choice).own = { ...this.#of(choice).own, ...value }
    else this.#push(choice, value, out)
  }

  #push(index: number, part: Fields, out: OutEvent[], logprobs?: readonly TokenLogprob[]): void {
    const content = { role: 'model', parts: [part] }
    const candidate = { content, index, logprobsResult: logprobs && writeLogprobs(logprobs) }
    out.push({ candidates: [candidate], ...this.#head })
  }

  #of(index: number): OpenChoice {
    while (this.#choices.length <= index) {
      this.#choices.push({
        writer: new PartWriter(this.#asked, this.#states),
        calls: new Map(),
        reasoning: undefined,
        texts: [],
        cited: [],
        own: undefined,
        end: undefined,
      })
    }
    return this.#choices[index] as OpenChoice
  }
}

/** The last piece of a candidate. Clients read its content, even if it is empty. */
function lastOf({ own, end, cited, texts }: OpenChoice, index: number): Fields {
  const last: Record<string, unknown> = {
    content: { role: 'model', parts: [{ text: '' }] },
    finishReason: finishName(end),
    index,
  }
  const grounding =
    cited.length > 0 && own?.['groundingMetadata'] === undefined ? writeCitations(cited, texts) : undefined
  if (grounding !== undefined) last['groundingMetadata'] = grounding
  return Object.assign(last, own)
}
