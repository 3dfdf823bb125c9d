import { flowOf } from '../http/flow-of.ts'
import { MappedFlow } from '../http/mapped-flow.ts'
import { EventReader } from './event-reader.ts'
import { FrameWindow } from './frame-window.ts'

/** The bytes of a response. */
export interface FrameSource extends AsyncIterable<Buffer> {
  /** Called after the last event, when the rest of the source is no longer needed. */
  settle?(): void
}

/** The pieces of a response that arrives as frames of SSE. What arrives together is delivered together. */
export abstract class FrameFlow<Piece> extends MappedFlow<Buffer, Piece> {
  readonly #response: FrameSource
  protected readonly window: FrameWindow = new FrameWindow()
  protected readonly events: EventReader = new EventReader()
  /** Read and not delivered yet. */
  protected pieces: Piece[] = []

  constructor(source: FrameSource) {
    super(flowOf(source))
    this.#response = source
  }

  /** Whether the response is complete: what follows is not read. */
  protected abstract get isComplete(): boolean

  /** Adds the pieces of complete frames, whose memory is shared. Throws if the response has failed. */
  protected abstract read(frames: Buffer): void

  /** The connection has ended before the response was complete. Throws if the rest of the window does not complete it. */
  protected abstract readRest(): void

  protected map(reads: readonly Buffer[], last: boolean, out: Piece[]): void {
    this.pieces = out
    if (this.window.push(reads)) this.read(this.window.frames)
    if (last && !this.isComplete) this.readRest()
  }

  protected override isOver(): boolean {
    if (!this.isComplete) return false
    if (this.#response.settle === undefined) this.stop()
    else this.#response.settle()
    return true
  }
}
