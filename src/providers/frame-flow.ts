import { Flow, type Receiver } from '../http/flow.ts'
import { flowOf } from '../http/flow-of.ts'
import { EventReader } from './event-reader.ts'
import { FrameWindow, type WordView } from './frame-window.ts'

/** The bytes of a response. */
export interface FrameSource extends AsyncIterable<Buffer> {
  /** Called after the last event, when the rest of the source is no longer needed. */
  settle?(): void
}

/** The pieces of a response that arrives as frames of SSE. What arrives together is delivered together. */
export abstract class FrameFlow<Piece> extends Flow<Piece> implements Receiver<Buffer> {
  readonly #source: FrameSource
  readonly #bytes: Flow<Buffer>
  protected readonly window: FrameWindow = new FrameWindow()
  protected readonly events: EventReader = new EventReader()
  /** Read and not delivered yet. */
  protected pieces: Piece[] = []
  #receiver: Receiver<Piece> | undefined

  constructor(source: FrameSource) {
    super()
    this.#source = source
    this.#bytes = flowOf(source)
  }

  /** Whether the response is complete: what follows is not read. */
  protected abstract get isComplete(): boolean

  /** Adds the pieces of the frames from `start` on, all of them complete. Throws if the response has failed. */
  protected abstract read(view: WordView, start: number): void

  /** The connection has ended before the response was complete. Throws if the rest of the window does not complete it. */
  protected abstract readRest(): void

  start(receiver: Receiver<Piece>): void {
    this.#receiver = receiver
    this.#bytes.start(this)
  }

  pause(): void {
    this.#bytes.pause()
  }

  stop(): void {
    this.#bytes.stop()
  }

  receive(reads: readonly Buffer[], last: boolean): void {
    const receiver = this.#receiver as Receiver<Piece>
    let failure: { readonly error: unknown } | undefined
    try {
      if (this.window.push(reads)) this.read(this.window.view, this.window.start)
      if (last && !this.isComplete) this.readRest()
    } catch (error) {
      failure = { error }
    }
    const whole = this.isComplete && failure === undefined
    if (failure !== undefined) this.#bytes.stop()
    else if (whole) this.#settle()
    const { pieces } = this
    this.pieces = []
    if (pieces.length > 0 || whole) receiver.receive(pieces, whole)
    if (failure !== undefined) receiver.fail(failure.error)
  }

  fail(error: unknown): void {
    this.#receiver?.fail(error)
  }

  #settle(): void {
    if (this.#source.settle === undefined) this.#bytes.stop()
    else this.#source.settle()
  }
}
