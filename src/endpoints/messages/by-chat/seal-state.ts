import { append, hasStateFields, stateFields, sealState } from '../../model-state.ts'
import { toolId, type Sealing } from '../writer.ts'

/** The state that a chat wants back, as its chunks deliver it. */
export class ChatSealing implements Sealing {
  isWaiting = false
  readonly #maker: string
  /** The field of the message in which the vendor sends its reasoning. */
  #reasoning: 'reasoning' | 'reasoning_content' | undefined
  #message: Record<string, unknown> = {}
  #calls: Record<string, Record<string, unknown>> = {}

  constructor(maker: string) {
    this.#maker = maker
  }

  reasoned(field: 'reasoning' | 'reasoning_content'): void {
    this.#reasoning = field
  }

  /** Keeps the state fields of a delta. */
  add(delta: object): void {
    if (!hasStateFields(delta)) return
    this.isWaiting = true
    append(this.#message, stateFields(delta))
  }

  /** Keeps the state fields of a piece of a call. */
  addCall(id: string, piece: object): void {
    if (!hasStateFields(piece)) return
    this.isWaiting = true
    append((this.#calls[toolId(id)] ??= {}), stateFields(piece))
  }

  sign(hidden: string): string {
    // The block itself has the text of the reasoning, unless it is hidden.
    const message = { ...this.#message, ...(this.#reasoning !== undefined && { [this.#reasoning]: hidden }) }
    const calls = this.#calls
    this.#message = {}
    this.#calls = {}
    this.isWaiting = false
    return sealState(this.#maker, { message, calls })
  }
}
