/**
 * Sources that push their pieces to a receiver: no promise, no iterator and no copy for a piece. Async iterables are the
 * other form of the same: `flowOf` makes a flow of one, and every flow is one.
 */

/** What a flow delivers to. Its methods must not throw. */
export interface Receiver<T> {
  /** Takes pieces that arrived together, in order. `last`: the flow has ended, and nothing follows. */
  receive(pieces: readonly T[], last: boolean): void
  /** The flow has failed, and nothing follows. */
  fail(error: unknown): void
}

/**
 * A source of pieces with one receiver. It delivers nothing until `start`, may be paused and started again, and is over after
 * the last `receive`, after `fail`, or after `stop`. Iterating over it starts it.
 */
export abstract class Flow<T> implements AsyncIterable<T> {
  /** Delivers to this receiver what has been kept, and from then on whatever arrives. Must not be called when over. */
  abstract start(receiver: Receiver<T>): void

  /** Keeps what arrives until the next `start`. `fail` may still be called, after pieces that were delivered. */
  abstract pause(): void

  /** Ends the flow and its source. Delivers nothing more. Does nothing if the flow is over. */
  abstract stop(): void

  [Symbol.asyncIterator](): AsyncIterableIterator<T, undefined> {
    return new Pulled(this)
  }
}

/** The iterator of a flow: lets it run only while a reader waits. */
export class Pulled<T> implements AsyncIterableIterator<T, undefined>, Receiver<T> {
  readonly #flow: Flow<T>
  readonly #join: ((pieces: readonly T[]) => T) | undefined
  #pieces: readonly T[] = []
  #given = 0
  #over = false
  /** Thrown after the pieces that arrived before it. */
  #failure: { readonly error: unknown } | undefined
  #wake: (() => void) | undefined

  /** `join`: makes one piece of those that were delivered together. Default: they stay separate. */
  constructor(flow: Flow<T>, join?: (pieces: readonly T[]) => T) {
    this.#flow = flow
    this.#join = join
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    while (this.#given === this.#pieces.length && !this.#over) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.#flow.start(this)
      })
    }
    if (this.#given < this.#pieces.length) return { done: false, value: this.#pieces[this.#given++] as T }
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure.error
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#over = true
    this.#pieces = []
    this.#given = 0
    this.#flow.stop()
    this.#wake?.()
    return { done: true, value: undefined }
  }

  receive(pieces: readonly T[], last: boolean): void {
    this.#pieces = this.#join === undefined || pieces.length < 2 ? pieces : [this.#join(pieces)]
    this.#given = 0
    this.#over = last
    if (!last) this.#flow.pause()
    this.#wake?.()
  }

  fail(error: unknown): void {
    this.#failure = { error }
    this.#over = true
    this.#wake?.()
  }
}
