import type { Sink, StreamBody } from '../../http/exchange.ts'
import { EventNumbers, positionAfter } from './event-ids.ts'

/**
 * Called once, at the end of the stream. `whole`: the stream ended without an error, even if its client had disconnected.
 * `bytes`: undefined if there were more than `maxBytes`.
 */
export type Recorded = (whole: boolean, bytes: Uint8Array | undefined) => void

/** Records a stream of at most `maxBytes` while it is sent, and sends what follows an event to a client that has come back. */
export class Recording implements Sink {
  /** The body to send to the first client. */
  readonly body: StreamBody
  readonly #ended: Recorded
  readonly #numbers: EventNumbers | undefined
  #sink: Sink | undefined
  #pieces: Uint8Array[] | undefined = []
  #capacity: number
  #over = false

  /** `numbered`: whether the body consists of events, each of which gets an id. */
  constructor(body: StreamBody, maxBytes: number, numbered: boolean, ended: Recorded) {
    this.#capacity = maxBytes
    this.#ended = ended
    this.#numbers = numbered ? new EventNumbers() : undefined
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
    if (this.#over || this.#numbers === undefined || this.#pieces === undefined) return undefined
    if (event > this.#numbers.last) return undefined
    return { start: (sink) => this.#goOnAt(sink, event) }
  }

  #goOnAt(sink: Sink, event: number): void {
    const bytes = Buffer.concat(this.#pieces ?? [])
    const position = positionAfter(bytes, event)
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

  get closed(): boolean {
    return this.#sink?.closed !== false
  }

  write(piece: string | Uint8Array): boolean {
    const sent = this.#numbers?.of(piece) ?? piece
    this.#take(sent)
    return this.#sink?.write(sent) !== false
  }

  async drained(): Promise<void> {
    await this.#sink?.drained()
  }

  end(whole: boolean = true): void {
    if (!this.#over) {
      this.#over = true
      this.#ended(whole, whole && this.#pieces !== undefined ? Buffer.concat(this.#pieces) : undefined)
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
