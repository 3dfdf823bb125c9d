/** Writes a conversation as `systemInstruction` and `contents`. */
import { arranged } from '../../conversation/arrange.ts'
import type { Block, CallBlock, ReasoningBlock, Turn } from '../../conversation/conversation.ts'
import { inputObject } from '../../conversation/json.ts'
import { noSignature } from '../../providers/content/signatures.ts'
import type { FunctionNames } from './names.ts'
import type { Fields } from '../../wire/json.ts'
import type { Target } from '../format.ts'
import { insteadOf, instructionText } from '../instead.ts'
import { mediaParts } from './media-writer.ts'
import { resultParts } from './result-writer.ts'
import { GoogleStateReader, type GoogleState } from './state.ts'
import { isForModel, type ContentTraits } from '../../providers/content-traits.ts'

export interface Contents {
  readonly systemInstruction?: Fields
  readonly contents: readonly Fields[]
}

interface Content {
  readonly role: 'user' | 'model'
  readonly parts: Fields[]
  readonly own: Fields | undefined
}

/**
 * Adjacent turns of one role become one, with results of calls first. Instructions stay where they are, because what stands
 * before must not change from turn to turn: caches go by it.
 */
export class ContentWriter {
  readonly #to: Target<ContentTraits>
  readonly #names: FunctionNames
  readonly #states = new GoogleStateReader()
  readonly #contents: Content[] = []
  readonly #system: Fields[] = []
  /** The function of each call. */
  readonly #called = new Map<string, string>()

  constructor(to: Target<ContentTraits>, names: FunctionNames) {
    this.#to = to
    this.#names = names
  }

  write(turns: readonly Turn[]): Contents {
    for (const turn of arranged(turns)) {
      if (turn.role === 'assistant') this.#add('model', this.#modelParts(turn.blocks), turn)
      else if (turn.role === 'user') this.#add('user', this.#userParts(turn.blocks), turn)
      else this.#instruct(turn)
    }
    const contents = this.#contents.map(({ role, parts, own }) => ({ role, parts: resultsFirst(parts), ...own }))
    // A request with only instructions is valid, but `contents` must not be empty.
    if (contents.length === 0 && this.#system.length > 0) return { contents: [{ role: 'user', parts: this.#system }] }
    return this.#system.length === 0 ? { contents } : { systemInstruction: { parts: this.#system }, contents }
  }

  #instruct(turn: Turn): void {
    const parts = this.#userParts(turn.blocks)
    if (this.#contents.length > 0) return this.#add('user', [{ text: instructionText(turn.blocks) }], turn)
    if (this.#to.traits.instructions === false) this.#add('user', parts, turn)
    else this.#system.push(...parts)
  }

  #add(role: Content['role'], parts: readonly Fields[], { own }: Turn): void {
    const last = this.#contents.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else if (parts.length > 0) this.#contents.push({ role, parts: [...parts], own: own?.gemini })
  }

  #userParts(blocks: readonly Block[]): Fields[] {
    const parts: Fields[] = []
    for (const block of blocks) {
      if (block.kind === 'result')
        parts.push(...resultParts(block, this.#called.get(block.callId) ?? block.callId, this.#to))
      else if (block.kind === 'own') parts.push(...this.#userParts(insteadOf(block, 'gemini', this.#to)))
      else if (block.kind === 'media') parts.push(...mediaParts(block, this.#to))
      else if (block.kind === 'text' || block.kind === 'refusal') {
        if (block.text !== '' || !isForModel(this.#to.traits)) parts.push(textPart(block))
      }
    }
    return parts
  }

  #modelParts(blocks: readonly Block[]): Fields[] {
    const { states, signatures } = this.#states.ofTurn(blocks, this.#to.maker)
    const turn = new ModelTurn()
    for (const block of blocks) {
      const state = states.get(block)
      switch (block.kind) {
        case 'text':
        case 'refusal':
          turn.text(textPart(block), state?.signature)
          break
        case 'reasoning':
          this.#reasoning(block, state, turn)
          break
        case 'call':
          turn.call(this.#call(block, signatures.get(block.id) ?? this.#missing(turn)))
          break
        case 'media':
          for (const part of mediaParts(block, this.#to)) turn.push(part, state?.signature)
          break
        default:
          for (const part of this.#userParts([block])) turn.push(part)
      }
    }
    return turn.end()
  }

  /** Thoughts are for clients. The model wants back only what is signed, or its own parts. */
  #reasoning({ text, state, place }: ReasoningBlock, own: GoogleState | undefined, turn: ModelTurn): void {
    if (own === undefined && state !== undefined)
      return this.#to.omit(place ?? 'contents', 'reasoning of another vendor')
    if (text !== '' && !isForModel(this.#to.traits)) return turn.push({ text, thought: true }, own?.signature)
    // Steps of the Interactions API have a type.
    for (const part of own?.parts ?? []) if (part['type'] === undefined) turn.push(part)
    turn.signed(own?.signature)
  }

  #call({ id, name, input, own }: CallBlock, signature: string | undefined): Fields {
    const vendorName = this.#names.toVendor(name)
    this.#called.set(id, vendorName)
    const part = { functionCall: { id, name: vendorName, args: inputObject(input) } }
    return { ...part, thoughtSignature: signature, ...own?.gemini }
  }

  /** Of calls in parallel, the vendor signs the first. */
  #missing({ calls }: ModelTurn): string | undefined {
    return this.#to.traits.wantsSignatures === true && calls === 0 ? noSignature : undefined
  }
}

class ModelTurn {
  readonly #parts: Fields[] = []
  /** A signature of the text to come. */
  #pending: string | undefined
  calls = 0

  push(part: Fields, signature?: string): void {
    this.#parts.push(signature === undefined ? part : { ...part, thoughtSignature: signature })
  }

  text(part: Fields, signature: string | undefined): void {
    const own = signature ?? this.#pending
    this.#pending = undefined
    if (part['text'] !== '' || own !== undefined) this.push(part, own)
  }

  call(part: Fields): void {
    this.#flush()
    this.calls++
    this.#parts.push(part)
  }

  /** A signature that stands apart belongs to the text before it, or to the one after it. */
  signed(signature: string | undefined): void {
    if (signature === undefined) return
    const last = this.#parts.at(-1)
    if (typeof last?.['text'] === 'string' && last['thoughtSignature'] === undefined)
      this.#parts[this.#parts.length - 1] = { ...last, thoughtSignature: signature }
    else this.#pending = signature
  }

  end(): Fields[] {
    this.#flush()
    return this.#parts
  }

  #flush(): void {
    if (this.#pending !== undefined) this.text({ text: '' }, undefined)
  }
}

function textPart({ text, own }: { readonly text: string } & Pick<Block, 'own'>): Fields {
  return { text, ...own?.gemini }
}

function resultsFirst(parts: readonly Fields[]): readonly Fields[] {
  const last = parts.findLastIndex(isResult)
  if (parts.findIndex((part) => !isResult(part)) > last || last < 0) return parts
  return [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))]
}

function isResult(part: Fields): boolean {
  return 'functionResponse' in part
}
