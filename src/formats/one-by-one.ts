import type { Part } from '../conversation/parts.ts'
import type { OutEvent } from './format.ts'

/** What belongs to a block. */
export type BlockPart = Exclude<Part, { kind: 'start' | 'usage' | 'end' }>

/** For wires whose blocks come one after the other: what belongs to other blocks waits while a call is written. */
export class OneByOne {
  readonly #write: (part: BlockPart, out: OutEvent[]) => void
  #call: number | undefined
  #waiting: BlockPart[] = []

  constructor(write: (part: BlockPart, out: OutEvent[]) => void) {
    this.#write = write
  }

  add(part: BlockPart, out: OutEvent[]): void {
    if (this.#call !== undefined && part.block !== this.#call && part.block >= 0) {
      this.#waiting.push(part)
      return
    }
    this.#write(part, out)
    if (part.kind === 'call') this.#call = part.block
    else if (part.kind === 'ended') this.release(out)
  }

  /** No more belongs to the call that is written. False if nothing has waited for that. */
  release(out: OutEvent[]): boolean {
    this.#call = undefined
    const waiting = this.#waiting
    if (waiting.length === 0) return false
    this.#waiting = []
    for (const part of waiting) this.add(part, out)
    return true
  }
}
