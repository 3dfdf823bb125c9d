import { JsonProgress } from '../http/json-progress.ts'
import type { ToolCallDelta } from '../wire/chat.ts'

/** A tool call in a `CallQueue`. */
export interface QueuedCall {
  readonly id: string
  readonly name: string
  /** The arguments received so far. */
  readonly input: JsonProgress
  /** Arguments that were not sent to the client yet. */
  pending: string
}

/**
 * The tool calls of a response, as the model writes them, possibly several at a time. They are sent one after the
 * other: a call waits until the arguments of the previous one are complete JSON.
 */
export class CallQueue {
  /** By index. */
  readonly #calls = new Map<number, QueuedCall>()
  /** Calls that were not opened yet, in order. */
  readonly #waiting = new Set<QueuedCall>()
  #open: QueuedCall | undefined

  /** Adds a piece; the call that it belongs to. */
  add({ index = 0, id, function: called }: ToolCallDelta): QueuedCall {
    let call = this.#calls.get(index)
    if (call === undefined) {
      call = { id: id ?? '', name: called?.name ?? '', input: new JsonProgress(), pending: '' }
      this.#calls.set(index, call)
      this.#waiting.add(call)
    }
    const text = typeof called?.arguments === 'string' ? called.arguments : ''
    call.input.add(text)
    call.pending += text
    return call
  }

  /** Removes and returns the pending arguments of the open call. */
  take(): string {
    const text = this.#open?.pending ?? ''
    if (this.#open !== undefined) this.#open.pending = ''
    return text
  }

  /** The next call to open, if the open one is complete. `force`: even if it is not. */
  next(force: boolean): QueuedCall | undefined {
    const [waiting] = this.#waiting
    if (waiting === undefined) return undefined
    return this.#open === undefined || force || this.#open.input.whole ? waiting : undefined
  }

  /** Whether the model is in the middle of the arguments of a call. */
  get isWriting(): boolean {
    if (isPart(this.#open)) return true
    for (const call of this.#waiting) if (isPart(call)) return true
    return false
  }

  /** Makes a waiting call the open one. */
  open(call: QueuedCall): void {
    this.#waiting.delete(call)
    this.#open = call
  }

  /** Closes the open call. Pieces of it that arrive later are dropped. */
  close(): void {
    this.#open = undefined
  }
}

function isPart(call: QueuedCall | undefined): boolean {
  return call !== undefined && call.input.text !== '' && !call.input.whole
}

/** The value of a JSON text; undefined if it is invalid or incomplete. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
