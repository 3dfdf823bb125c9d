/** Flows that are made of another one: what arrives together is delivered together. */
import { Flow, type Receiver } from './flow.ts'
import { joinedFrames } from './sse.ts'

/** Each piece of the source becomes any number of pieces. */
export abstract class MappedFlow<In, Out> extends Flow<Out> implements Receiver<In> {
  readonly #source: Flow<In>
  #receiver: Receiver<Out> | undefined

  constructor(source: Flow<In>) {
    super()
    this.#source = source
  }

  /** Adds what becomes of the pieces. If it throws, the flow fails after what was added before. */
  protected abstract map(pieces: readonly In[], last: boolean, out: Out[]): void

  start(receiver: Receiver<Out>): void {
    this.#receiver = receiver
    this.#source.start(this)
  }

  pause(): void {
    this.#source.pause()
  }

  stop(): void {
    this.#source.stop()
  }

  receive(pieces: readonly In[], last: boolean): void {
    const receiver = this.#receiver as Receiver<Out>
    const out: Out[] = []
    let failure: { readonly error: unknown } | undefined
    try {
      this.map(pieces, last, out)
    } catch (error) {
      failure = { error }
      this.stop()
    }
    const whole = last && failure === undefined
    if (out.length > 0 || whole) receiver.receive(out, whole)
    if (failure !== undefined) receiver.fail(failure.error)
  }

  fail(error: unknown): void {
    this.#receiver?.fail(error)
  }
}

/** The frames of a client's stream. What arrives together is one write. */
export abstract class FrameWriter<In> extends MappedFlow<In, string | Uint8Array> {
  /** The frames of a piece; empty for none. */
  protected abstract print(piece: In): string | Uint8Array

  /** Everything after the last piece. Throws if the source has ended too early. */
  protected abstract end(): string

  protected map(pieces: readonly In[], last: boolean, out: (string | Uint8Array)[]): void {
    let frames: string | Uint8Array = ''
    try {
      for (const piece of pieces) frames = joinedFrames(frames, this.print(piece))
      if (last) frames = joinedFrames(frames, this.end())
    } finally {
      if (frames.length > 0) out.push(frames)
    }
  }
}
