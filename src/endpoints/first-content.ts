/** Waiting for the first content of a stream: an error before it can still become an HTTP status, or another attempt. */
import { Flow, type Receiver } from '../http/flow.ts'
import { flowOf } from '../http/flow-of.ts'
import { billed, unreadable } from '../providers/failure.ts'
import type { Usage } from '../wire/usage.ts'

/**
 * A flow of all pieces, once one of them is content. A stream that ends before is enough if it has a piece that
 * `isAnswer` accepts. Rejects with the stream's error, or that of a piece that cannot be read. `usageIn`: what a
 * piece reports, which is charged if there is no content.
 */
export function afterFirstContent<Piece>(
  pieces: AsyncIterable<Piece>,
  isContent: (piece: Piece) => boolean,
  isAnswer: (piece: Piece) => boolean,
  usageIn?: (piece: Piece) => Usage | undefined,
): Promise<Flow<Piece>> {
  const source = flowOf(pieces)
  const flow = new FirstContent(source, isContent, isAnswer, usageIn)
  source.start(flow)
  return flow.begun
}

/** The same where every piece counts. */
export function afterFirstPiece<Piece>(pieces: AsyncIterable<Piece>): Promise<Flow<Piece>> {
  return afterFirstContent(pieces, always, always)
}

function always(): boolean {
  return true
}

/** Keeps the pieces up to those that arrived with the first content, and then pauses the source. */
class FirstContent<Piece> extends Flow<Piece> implements Receiver<Piece> {
  readonly #source: Flow<Piece>
  readonly #isContent: (piece: Piece) => boolean
  readonly #isAnswer: (piece: Piece) => boolean
  readonly #usageIn: ((piece: Piece) => Usage | undefined) | undefined
  #seen: Piece[] = []
  readonly #begun = Promise.withResolvers<Flow<Piece>>()
  #isOpen = false
  #ended = false
  #paused = false
  #failure: { readonly error: unknown } | undefined

  constructor(
    source: Flow<Piece>,
    isContent: (piece: Piece) => boolean,
    isAnswer: (piece: Piece) => boolean,
    usageIn: ((piece: Piece) => Usage | undefined) | undefined,
  ) {
    super()
    this.#source = source
    this.#isContent = isContent
    this.#isAnswer = isAnswer
    this.#usageIn = usageIn
  }

  /** The flow itself, once it has begun. Rejects if it fails before. */
  get begun(): Promise<Flow<Piece>> {
    return this.#begun.promise
  }

  receive(pieces: readonly Piece[], last: boolean): void {
    try {
      for (const piece of pieces) this.#seen.push(piece)
      const hasContent = pieces.some(this.#isContent)
      if (!last && !hasContent) return
      if (last && !this.#seen.some(this.#isAnswer)) {
        const reported = this.#seen.map((piece) => this.#usageIn?.(piece)).findLast((usage) => usage !== undefined)
        throw billed(unreadable('the vendor ended the response before any content'), reported)
      }
    } catch (error) {
      this.#source.stop()
      return this.fail(error)
    }
    this.#isOpen = true
    this.#ended = last
    if (!last) this.#source.pause()
    this.#begun.resolve(this)
  }

  fail(error: unknown): void {
    this.#failure = { error }
    if (!this.#isOpen) this.#begun.reject(error)
  }

  start(receiver: Receiver<Piece>): void {
    const seen = this.#seen
    this.#seen = []
    this.#paused = false
    if (seen.length > 0) receiver.receive(seen, this.#ended)
    if (this.#failure !== undefined) receiver.fail(this.#failure.error)
    else if (!this.#ended && !this.#paused) this.#source.start(receiver)
  }

  pause(): void {
    this.#paused = true
    this.#source.pause()
  }

  stop(): void {
    this.#source.stop()
  }
}
