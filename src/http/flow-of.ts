/** Flows of sources that are none themselves: async iterables, and promises. */
import { Flow, type Receiver } from './flow.ts'
import { ignore } from './ignore.ts'

/** A source as a flow. */
export function flowOf<T>(source: AsyncIterable<T>): Flow<T> {
  return source instanceof Flow ? (source as Flow<T>) : new Pushed(source)
}

/** The flow that a promise resolves to; it fails if the promise rejects. */
export function flowAfter<T>(pending: Promise<AsyncIterable<T>>): Flow<T> {
  return new Awaited(pending)
}

/** A flow of pieces that are all there: delivered at once. */
export function flowOfList<T>(pieces: readonly T[]): Flow<T> {
  return new Listed(pieces)
}

/** Ends an iterator without waiting; errors of its clean-up are ignored. */
export function release(iterator: AsyncIterator<unknown>): void {
  void (async () => iterator.return?.())().catch(ignore)
}

/** The flow of an iterator: asks for the next piece as soon as the receiver has taken the one before. */
class Pushed<T> extends Flow<T> {
  readonly #source: AsyncIterable<T>
  #iterator: AsyncIterator<T> | undefined
  #receiver: Receiver<T> | undefined
  #paused = false
  /** Arrived after `pause`. */
  #kept: IteratorResult<T> | undefined
  #reading = false
  #over = false

  constructor(source: AsyncIterable<T>) {
    super()
    this.#source = source
  }

  start(receiver: Receiver<T>): void {
    this.#receiver = receiver
    this.#paused = false
    const kept = this.#kept
    this.#kept = undefined
    if (kept !== undefined) this.#deliver(kept)
    if (!this.#reading) void this.#read()
  }

  pause(): void {
    this.#paused = true
  }

  stop(): void {
    if (this.#over) return
    this.#over = true
    try {
      // A generator's clean-up runs only if it was started.
      if (this.#iterator === undefined) this.#begun().next().catch(ignore)
      release(this.#begun())
    } catch {
      // A source without a working iterator has nothing to end.
    }
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    this.#reading = true
    try {
      const iterator = this.#begun()
      while (!this.#paused && !this.#over) this.#deliver(await iterator.next())
    } catch (error) {
      if (!this.#over) {
        this.#over = true
        this.#receiver?.fail(error)
      }
    }
    this.#reading = false
  }

  #begun(): AsyncIterator<T> {
    return (this.#iterator ??= this.#source[Symbol.asyncIterator]())
  }

  #deliver(result: IteratorResult<T>): void {
    if (this.#over) return
    if (this.#paused) this.#kept = result
    else if (result.done !== true) this.#receiver?.receive([result.value], false)
    else {
      this.#over = true
      this.#receiver?.receive([], true)
    }
  }
}

class Awaited<T> extends Flow<T> {
  readonly #pending: Promise<AsyncIterable<T>>
  #flow: Flow<T> | undefined
  #receiver: Receiver<T> | undefined
  #paused = false
  #over = false

  constructor(pending: Promise<AsyncIterable<T>>) {
    super()
    this.#pending = pending
    // Reported by `start`, which may come later than the rejection.
    pending.catch(ignore)
  }

  start(receiver: Receiver<T>): void {
    const isFirst = this.#receiver === undefined
    this.#receiver = receiver
    this.#paused = false
    if (this.#flow !== undefined) this.#flow.start(receiver)
    else if (isFirst) this.#pending.then((source) => this.#arrived(flowOf(source)), this.#failed)
  }

  pause(): void {
    this.#paused = true
    this.#flow?.pause()
  }

  stop(): void {
    this.#over = true
    if (this.#flow !== undefined) this.#flow.stop()
    else this.#pending.then((source) => flowOf(source).stop(), ignore)
  }

  #arrived(flow: Flow<T>): void {
    if (this.#over) return
    this.#flow = flow
    if (!this.#paused && this.#receiver !== undefined) flow.start(this.#receiver)
  }

  readonly #failed = (error: unknown): void => {
    if (!this.#over) this.#receiver?.fail(error)
  }
}

class Listed<T> extends Flow<T> {
  #pieces: readonly T[] | undefined

  constructor(pieces: readonly T[]) {
    super()
    this.#pieces = pieces
  }

  start(receiver: Receiver<T>): void {
    const pieces = this.#pieces
    this.#pieces = undefined
    if (pieces !== undefined) receiver.receive(pieces, true)
  }

  pause(): void {}

  stop(): void {
    this.#pieces = undefined
  }
}
