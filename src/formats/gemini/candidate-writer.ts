/** Writes the blocks of one candidate, whole or as they arrive, as parts. */
import type { CallBlock, MediaBlock, ReasoningBlock, State } from '../../conversation/conversation.ts'
import { inputObject } from '../../conversation/json.ts'
import type { Fields } from '../../wire/json.ts'
import type { Asked } from '../format.ts'
import { writeMedia } from './media.ts'
import { google, signatureFor, type GoogleStateReader } from './state.ts'

/**
 * Reasoning of other makers is carried by the signature of the next part that is no thought, because clients may drop
 * thoughts.
 */
export class PartWriter {
  readonly #asked: Asked
  readonly #states: GoogleStateReader
  #before: ReasoningBlock[] = []

  constructor(asked: Asked, states: GoogleStateReader) {
    this.#asked = asked
    this.#states = states
  }

  get hasReasoning(): boolean {
    return this.#before.length > 0
  }

  thought({ text, own }: Pick<ReasoningBlock, 'text' | 'own'>): Fields | undefined {
    const { reasoning = 'shown' } = this.#asked
    return text === '' || reasoning !== 'shown' ? undefined : { text, thought: true, ...own?.gemini }
  }

  /** The parts of reasoning that is complete: none, unless it has parts of the vendor's own. */
  reasoned(block: ReasoningBlock): readonly Fields[] {
    const { state } = block
    if (state === undefined || this.#asked.reasoning === 'none') return []
    if (state.maker === google) {
      const { parts, signature } = this.#states.read(state)
      return signature === undefined ? parts : [...parts, { text: '', thoughtSignature: signature }]
    }
    this.#before.push(block)
    return []
  }

  /** A part with the state before it, and its own. */
  signed(part: Fields, state: State | undefined): Fields {
    const signature = this.#signature(state)
    return signature === undefined ? part : { ...part, thoughtSignature: signature }
  }

  /** An empty part with state for which there was no other; undefined if there is none. */
  rest(state?: State): Fields | undefined {
    const signature = this.#signature(state)
    return signature === undefined ? undefined : { text: '', thoughtSignature: signature }
  }

  #signature(state: State | undefined): string | undefined {
    const before = this.#before
    if (before.length === 0 && state === undefined) return undefined
    if (this.#asked.reasoning === 'none') return undefined
    this.#before = []
    return signatureFor(this.#states, { before, state })
  }
}

export function callPart({ id, name, input, own }: Pick<CallBlock, 'id' | 'name' | 'input' | 'own'>): Fields {
  return { functionCall: { id, name, args: inputObject(input) }, ...own?.gemini }
}

export function mediaPart({ source, name, own }: Pick<MediaBlock, 'source' | 'name' | 'own'>): Fields {
  return { ...writeMedia(source, name), ...own?.gemini }
}
