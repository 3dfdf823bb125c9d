/** Writing down a stream while it goes out. */
import type { Sink, StreamBody } from '../http/exchange.ts'

/** Called once. `whole`: the stream came to a good end, whether or not its client was still there. */
export type Recorded = (whole: boolean, bytes: Uint8Array | undefined) => void

/** The same body. Of one with more than `maxBytes` no bytes are told. */
export function recording(body: StreamBody, maxBytes: number, ended: Recorded): StreamBody {
  return { start: (sink) => body.start(new Recorder(sink, maxBytes, ended)) }
}

class Recorder implements Sink {
  readonly #sink: Sink
  readonly #ended: Recorded
  #pieces: Uint8Array[] | undefined = []
  #room: number
  #over = false

  constructor(sink: Sink, maxBytes: number, ended: Recorded) {
    this.#sink = sink
    this.#room = maxBytes
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
    this.#room -= bytes.length
    if (this.#room < 0) this.#pieces = undefined
    else this.#pieces.push(bytes)
  }
}
