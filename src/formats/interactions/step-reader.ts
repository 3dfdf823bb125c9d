/** Reads one step of an interaction: what the model said, thought or called, in pieces or whole. */
import type { MediaBlock, MediaSource } from '../../conversation/conversation.ts'
import type { Part } from '../../conversation/parts.ts'
import { maxToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import { fieldsOf, isRecord, itemsOf, stringOf, textOf, type Fields } from '../../wire/json.ts'
import { messageState } from '../chat/states.ts'
import { callId, ownId } from '../chat/tool-calls.ts'
import { ownParts, signed } from '../gemini/state.ts'
import { citationsIn } from './citations.ts'

/** What the steps of an answer share. Blocks count through the answer. */
export interface StepCount {
  readonly maker: string
  blocks: number
  /** Those of the calls. */
  readonly ids: Set<string>
}

export interface OpenStep {
  delta(delta: Fields, out: Part[]): void
  /** Called once, after the last delta. */
  end(out: Part[]): void
}

export function openStep(step: Fields, count: StepCount, out: Part[]): OpenStep {
  switch (step['type']) {
    case 'model_output':
      return new OutputStep(step, count, out)
    case 'thought':
      return new ThoughtStep(step, count, out)
    case 'function_call':
      return new CallStep(step, count, out)
    default:
      return new VendorStep(step, count)
  }
}

const choice = 0

class OutputStep implements OpenStep {
  readonly #count: StepCount
  /** The text that is being said. */
  #text: { readonly block: number; said: string } | undefined

  constructor({ content }: Fields, count: StepCount, out: Part[]) {
    this.#count = count
    for (const each of itemsOf(content)) if (isRecord(each)) this.delta(each, out)
  }

  delta(delta: Fields, out: Part[]): void {
    const { type, text, annotations } = delta
    const before = this.#text?.said ?? ''
    if (type === 'text' && typeof text === 'string') this.#say(text, out)
    else if (isMedia(type)) this.#show(delta, type, out)
    if (this.#text === undefined) return
    // Of a whole text its ranges are, of a piece the text so far.
    const { block, said } = this.#text
    const from = type === 'text' ? before : ''
    for (const citation of citationsIn(annotations, from, said)) out.push({ kind: 'citation', choice, block, citation })
  }

  end(): void {}

  #say(text: string, out: Part[]): void {
    if (text === '') return
    this.#text ??= { block: this.#count.blocks++, said: '' }
    this.#text.said += text
    out.push({ kind: 'text', choice, block: this.#text.block, text })
  }

  #show(content: Fields, type: keyof typeof kinds, out: Part[]): void {
    const source = sourceOf(content, type)
    if (source === undefined) return
    this.#text = undefined
    out.push({ kind: 'media', choice, block: this.#count.blocks++, type: kinds[type], source })
  }
}

const kinds = { image: 'image', audio: 'audio', video: 'file', document: 'file' } as const satisfies Record<
  string,
  MediaBlock['type']
>

const usualTypes = { image: 'image/png', audio: 'audio/wav', video: 'video/mp4', document: 'application/pdf' } as const

function isMedia(type: unknown): type is keyof typeof kinds {
  return typeof type === 'string' && Object.hasOwn(kinds, type)
}

function sourceOf({ data, uri, mime_type: given }: Fields, type: keyof typeof kinds): MediaSource | undefined {
  const mediaType = stringOf(given)
  if (typeof data === 'string') return { mediaType: mediaType ?? usualTypes[type], base64: data }
  return typeof uri === 'string' ? { url: uri, mediaType } : undefined
}

class ThoughtStep implements OpenStep {
  readonly #count: StepCount
  readonly #block: number
  #isSaid = false
  #signature: string | undefined

  constructor({ summary, signature }: Fields, count: StepCount, out: Part[]) {
    this.#count = count
    this.#block = count.blocks++
    this.#signature = stringOf(signature)
    for (const each of itemsOf(summary)) this.#say(each, out)
  }

  delta({ type, content, signature }: Fields, out: Part[]): void {
    if (type === 'thought_summary') this.#say(content, out)
    else if (type === 'thought_signature') this.#signature = stringOf(signature) ?? this.#signature
  }

  end(out: Part[]): void {
    const block = this.#block
    const signature = this.#signature ?? ''
    // Thoughts without a signature have a state all the same: clients drop those that have none.
    const { maker } = this.#count
    if (signature === '' && !this.#isSaid) return
    const state = signature === '' ? messageState(maker, {}, 'reasoning_content') : signed(maker, signature)
    if (!this.#isSaid) out.push({ kind: 'reasoning', choice, block, text: '', form: 'sealed' })
    out.push({ kind: 'state', choice, block, state })
  }

  /** Images that the model thinks with are not part of the answer. */
  #say(content: unknown, out: Part[]): void {
    const text = textOf(fieldsOf(content)['text'])
    if (text === '') return
    this.#isSaid = true
    out.push({ kind: 'reasoning', choice, block: this.#block, text })
  }
}

class CallStep implements OpenStep {
  readonly #block: number
  readonly #given: unknown
  #isWritten = false

  constructor(step: Fields, count: StepCount, out: Part[]) {
    if (count.ids.size === maxToolCalls) throw tooMany('tool calls', maxToolCalls)
    const id = ownId(callId(step['id']), count.ids)
    const signature = textOf(step['signature'])
    const state = signature === '' ? undefined : signed(count.maker, signature, id)
    this.#block = count.blocks++
    this.#given = step['arguments']
    out.push({ kind: 'call', choice, block: this.#block, id, name: textOf(step['name']), by: 'function', state })
  }

  delta({ type, arguments: piece }: Fields, out: Part[]): void {
    if (type !== 'arguments_delta' || typeof piece !== 'string' || piece === '') return
    this.#isWritten = true
    out.push({ kind: 'input', choice, block: this.#block, text: piece })
  }

  end(out: Part[]): void {
    const block = this.#block
    if (!this.#isWritten) out.push({ kind: 'input', choice, block, text: JSON.stringify(this.#given ?? {}) })
    out.push({ kind: 'ended', choice, block })
  }
}

/** What the vendor did by itself: not for the client, but the model needs it back. */
class VendorStep implements OpenStep {
  readonly #count: StepCount
  #step: Fields

  constructor(step: Fields, count: StepCount) {
    this.#count = count
    this.#step = step
  }

  delta(more: Fields): void {
    this.#step = { ...this.#step, ...more, type: this.#step['type'] }
  }

  end(out: Part[]): void {
    const block = this.#count.blocks++
    out.push({ kind: 'reasoning', choice, block, text: '', form: 'sealed' })
    out.push({ kind: 'state', choice, block, state: ownParts(this.#count.maker, [this.#step]) })
  }
}
