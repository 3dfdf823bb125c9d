import type { Sink, StreamBody } from './exchange.ts'

/** What learns of a body while it is sent. Its methods must not throw. */
export interface BodyCopy {
  /** A piece is given to the client. */
  took(piece: string | Uint8Array): void
  /** Called once: nothing follows. `whole`: the body was complete. */
  ended(whole: boolean): void
}

/** The same body; `copy` gets the pieces that its client can still receive. */
export function copied(body: StreamBody, copy: BodyCopy): StreamBody {
  return { start: (sink) => body.start(new CopyingSink(sink, copy)) }
}

class CopyingSink implements Sink {
  readonly #sink: Sink
  readonly #copy: BodyCopy
  #over = false

  constructor(sink: Sink, copy: BodyCopy) {
    this.#sink = sink
    this.#copy = copy
  }

  get closed(): boolean {
    return this.#sink.closed
  }

  get unsent(): number | undefined {
    return this.#sink.unsent
  }

  write(piece: string | Uint8Array): boolean {
    if (!this.#over && !this.#sink.closed) this.#copy.took(piece)
    return this.#sink.write(piece)
  }

  drained(): Promise<void> {
    return this.#sink.drained()
  }

  end(whole: boolean = true): void {
    this.#end(whole && !this.#sink.closed)
    this.#sink.end(whole)
  }

  destroy(): void {
    this.#end(false)
    this.#sink.destroy()
  }

  #end(whole: boolean): void {
    if (this.#over) return
    this.#over = true
    this.#copy.ended(whole)
  }
}
