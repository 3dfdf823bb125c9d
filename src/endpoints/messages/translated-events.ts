import { Flow, type Receiver } from '../../http/flow.ts'
import type { Provider } from '../../providers/contract.ts'
import type { MessageEvent } from '../../wire/messages.ts'
import { readVendor } from '../read-vendor.ts'

/** Converts the pieces of a vendor's stream. Both methods add the events to `out`. */
export interface Translator<Piece> {
  accept(piece: Piece, out: MessageEvent[]): void
  /** Called once after the last piece, unless the stream failed. */
  end(out: MessageEvent[]): void
}

/** The events of a message that is made from a vendor's stream: those of pieces that arrived together, together. */
export class TranslatedEvents<Piece> extends Flow<MessageEvent> implements Receiver<Piece> {
  readonly #pieces: Flow<Piece>
  readonly #translator: Translator<Piece>
  #receiver: Receiver<MessageEvent> | undefined

  constructor(pieces: Flow<Piece>, translator: Translator<Piece>) {
    super()
    this.#pieces = pieces
    this.#translator = translator
  }

  start(receiver: Receiver<MessageEvent>): void {
    this.#receiver = receiver
    this.#pieces.start(this)
  }

  pause(): void {
    this.#pieces.pause()
  }

  stop(): void {
    this.#pieces.stop()
  }

  receive(pieces: readonly Piece[], last: boolean): void {
    const receiver = this.#receiver as Receiver<MessageEvent>
    const events: MessageEvent[] = []
    let failure: { readonly error: unknown } | undefined
    try {
      readVendor(() => {
        for (const piece of pieces) this.#translator.accept(piece, events)
        if (last) this.#translator.end(events)
      })
    } catch (error) {
      failure = { error }
      this.stop()
    }
    const whole = last && failure === undefined
    if (events.length > 0 || whole) receiver.receive(events, whole)
    if (failure !== undefined) receiver.fail(failure.error)
  }

  fail(error: unknown): void {
    this.#receiver?.fail(error)
  }
}

/**
 * Lets go of what was made of a request for a provider, once the first content of its answer has arrived: whatever still holds
 * the request would keep the conversation in memory for as long as the answer is streamed.
 */
export function releaseRequest(
  { releasesCalls }: Pick<Provider, 'releasesCalls'>,
  ...made: readonly (object | undefined)[]
): void {
  if (releasesCalls !== true) return
  for (const each of made) for (const name of Object.keys(each ?? {})) (each as Record<string, unknown>)[name] = null
}
