import type { Sink, StreamBody } from '../../http/exchange.ts'

/**
 * Called once, at the end of the stream. `whole`: the stream ended without an error, even if its client had disconnected.
 * `bytes`: undefined if there were more than `maxBytes`.
 */
export type Recorded = (whole: boolean, bytes: Uint8Array | undefined) => void

/** How a client that takes up a stream names the last event that it has got. */
export interface EventPlaces {
  /** The piece as it is sent. Default: unchanged. */
  readonly of?: (piece: string | Uint8Array) => Uint8Array
  /** The number of the last event, if it is known. */
  readonly last?: number
  /** Where the bytes after an event begin; undefined if it is not there. */
  readonly after: (stream: Uint8Array, event: number) => number | undefined
}

/** Records a stream of at most `maxBytes` while it is sent, and sends what follows an event to a client that has come back. */
export class Recording implements Sink {
  /** The body to send to the first client. */
  readonly body: StreamBody
  readonly #ended: Recorded
  readonly #places: EventPlaces | undefined
  #sink: Sink | undefined
  #pieces: Uint8Array[] | undefined = []
  #capacity: number
  #over = false

  /** `places`: undefined if the stream cannot be taken up. */
  constructor(body: StreamBody, maxBytes: number, places: EventPlaces | undefined, ended: Recorded) {
    this.#capacity = maxBytes
    this.#ended = ended
    this.#places = places
    this.body = {
      start: (sink) => {
        this.#sink ??= sink
        body.start(this)
      },
    }
  }

  /**
   * What follows an event, and then the rest of the stream as it comes, for the client that got the stream so far. Undefined if
   * the stream has ended, or the event is not recorded.
   */
  after(event: number): StreamBody | undefined {
    if (this.#over || this.#places === undefined || this.#pieces === undefined) return undefined
    if (event > (this.#places.last ?? Infinity)) return undefined
    return { start: (sink) => this.#goOnAt(sink, event) }
  }

  #goOnAt(sink: Sink, event: number): void {
    const bytes = this.bytes ?? Buffer.of()
    const position = this.#places?.after(bytes, event)
    const isLost = position === undefined || this.#pieces === undefined
    if (this.#over || isLost) {
      sink.destroy()
      return sink.end(false)
    }
    const before = this.#sink
    this.#sink = sink
    before?.destroy()
    before?.end(false)
    if (position < bytes.length) sink.write(bytes.subarray(position))
  }

  /** What was sent so far; undefined if it is more than `maxBytes`, or the stream has ended. */
  get bytes(): Buffer | undefined {
    return this.#pieces && Buffer.concat(this.#pieces)
  }

  get closed(): boolean {
    return this.#sink?.closed !== false
  }

  write(piece: string | Uint8Array): boolean {
    const sent = this.#places?.of?.(piece) ?? piece
    this.#take(sent)
    return this.#sink?.write(sent) !== false
  }

  async drained(): Promise<void> {
    await this.#sink?.drained()
  }

  end(whole: boolean = true): void {
    if (!this.#over) {
      this.#over = true
      this.#ended(whole, whole ? this.bytes : undefined)
      this.#pieces = undefined
    }
    this.#sink?.end(whole)
  }

  destroy(): void {
    this.#sink?.destroy()
  }

  #take(piece: string | Uint8Array): void {
    if (this.#pieces === undefined) return
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    this.#capacity -= bytes.length
    if (this.#capacity < 0) this.#pieces = undefined
    else this.#pieces.push(bytes)
  }
}
