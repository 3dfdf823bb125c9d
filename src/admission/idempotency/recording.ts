import type { Sink, StreamBody } from '../../http/exchange.ts'

/**
 * Called once, at the end of the stream. `whole`: the stream ended without an error, even if its client had disconnected.
 * `bytes`: undefined if there were more than `maxBytes`.
 */
export type Recorded = (whole: boolean, bytes: Uint8Array | undefined) => void

/** Records a stream of at most `maxBytes` while it is sent. */
export function recording(body: StreamBody, maxBytes: number, ended: Recorded): StreamBody {
  return { start: (sink) => body.start(new Recorder(sink, maxBytes, ended)) }
}

class Recorder implements Sink {
  readonly #sink: Sink
  readonly #ended: Recorded
  #pieces: Uint8Array[] | undefined = []
  #capacity: number
  #over = false

  constructor(sink: Sink, maxBytes: number, ended: Recorded) {
    this.#sink = sink
    this.#capacity = maxBytes
    this.#ended = ended
  }

  get closed(): boolean {
    return this.#sink.closed
  }

  write(piece: string | Uint8Array): boolean {
    this.#take(piece)
    return this.#sink.write(piece)
  }

  drained(): Promise<void> {
    return this.#sink.drained()
  }

  end(whole: boolean = true): void {
    if (!this.#over) {
      this.#over = true
      this.#ended(whole, whole && this.#pieces !== undefined ? Buffer.concat(this.#pieces) : undefined)
      this.#pieces = undefined
    }
    this.#sink.end(whole)
  }

  destroy(): void {
    this.#sink.destroy()
  }

  #take(piece: string | Uint8Array): void {
    if (this.#pieces === undefined) return
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    this.#capacity -= bytes.length
    if (this.#capacity < 0) this.#pieces = undefined
    else this.#pieces.push(bytes)
  }
}
