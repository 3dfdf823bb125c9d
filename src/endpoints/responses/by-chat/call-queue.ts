/**
 * The tool calls of an answer while the model writes them. It may write several at once; they are told one after the
 * other, and those behind wait until the first is a whole JSON text.
 */
import { JsonProgress } from '../../../http/json-progress.ts'
import type { ToolCallDelta } from '../../../wire/chat.ts'

export interface QueuedCall {
  readonly id: string
  readonly name: string
  /** All of its arguments so far. */
  readonly input: JsonProgress
  /** Arguments that were not told yet. */
  untold: string
}

export class CallQueue {
  /** By the number of the call. */
  readonly #calls = new Map<number, QueuedCall>()
  /** Those whose turn has not come, in order. */
  readonly #waiting = new Set<QueuedCall>()
  #open: QueuedCall | undefined

  /** The call this piece belongs to. */
  add({ index = 0, id, function: called }: ToolCallDelta): QueuedCall {
    let call = this.#calls.get(index)
    if (call === undefined) {
      call = { id: id ?? '', name: called?.name ?? '', input: new JsonProgress(), untold: '' }
      this.#calls.set(index, call)
      this.#waiting.add(call)
    }
    const text = typeof called?.arguments === 'string' ? called.arguments : ''
    call.input.add(text)
    call.untold += text
    return call
  }

  /** What is to be told of the call that is open. */
  take(): string {
    const text = this.#open?.untold ?? ''
    if (this.#open !== undefined) this.#open.untold = ''
    return text
  }

  /** The call to be told now, if it is the turn of another one. `anyway`: whether or not the open one is whole. */
  next(anyway: boolean): QueuedCall | undefined {
    const [waiting] = this.#waiting
    if (waiting === undefined) return undefined
    return this.#open === undefined || anyway || this.#open.input.whole ? waiting : undefined
  }

  open(call: QueuedCall): void {
    this.#waiting.delete(call)
    this.#open = call
  }

  /** What still comes of it is dropped. */
  close(): void {
    this.#open = undefined
  }
}

/** Undefined for what is no JSON, or not yet. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
