/** The frames of a streamed message, from events or from the vendor's own frames. */
import { Flow, type Receiver } from '../../http/flow.ts'
import { eventFrame, joinedFrames } from '../../http/sse.ts'
import { unreadable } from '../../providers/failure.ts'
import { MessageFrames, type MessagePiece } from '../../providers/message.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { readVendor } from '../read-vendor.ts'
import type { OpenMessage } from './open-message.ts'
import { writtenFrame } from './message-json.ts'
import { EventUsage } from './event-usage.ts'

/** The frames of a message; they fail if its events end without `message_stop`. */
export function messageFrames(answer: OpenMessage, { meter }: AnswerContext): Flow<string | Uint8Array> {
  if (answer.kind === 'whole') throw new TypeError('a non-streaming message has no frames')
  return new MessageWriter(answer.pieces, answer.isCounted ? undefined : new EventUsage(meter))
}

/** Joins what arrives together, so that it is one write. */
class MessageWriter extends Flow<string | Uint8Array> implements Receiver<MessagePiece> {
  readonly #pieces: Flow<MessagePiece>
  readonly #tally: EventUsage | undefined
  #receiver: Receiver<string | Uint8Array> | undefined
  /** Whether an event is the last one, or the provider watches the end of its own frames. */
  #isComplete = false

  constructor(pieces: Flow<MessagePiece>, tally: EventUsage | undefined) {
    super()
    this.#pieces = pieces
    this.#tally = tally
  }

  start(receiver: Receiver<string | Uint8Array>): void {
    this.#receiver = receiver
    this.#pieces.start(this)
  }

  pause(): void {
    this.#pieces.pause()
  }

  stop(): void {
    this.#pieces.stop()
  }

  receive(pieces: readonly MessagePiece[], last: boolean): void {
    const receiver = this.#receiver as Receiver<string | Uint8Array>
    let frames: string | Uint8Array = ''
    let failure: { readonly error: unknown } | undefined
    try {
      for (const piece of pieces) frames = joinedFrames(frames, this.#print(piece))
      if (last && !this.#isComplete) {
        throw unreadable("the vendor's stream ended before the response was complete")
      }
    } catch (error) {
      failure = { error }
      this.stop()
    }
    const whole = last && failure === undefined
    if (frames.length > 0 || whole) receiver.receive([frames], whole)
    if (failure !== undefined) receiver.fail(failure.error)
  }

  fail(error: unknown): void {
    this.#receiver?.fail(error)
  }

  #print(piece: MessagePiece): string | Uint8Array {
    if (piece instanceof MessageFrames) {
      this.#isComplete = true
      this.#tally?.count(piece)
      return piece.frames
    }
    this.#isComplete = piece.type === 'message_stop'
    return readVendor(() => {
      // Without a tally, the events are the gateway's own.
      if (this.#tally === undefined) return writtenFrame(piece)
      this.#tally.count(piece)
      return eventFrame(piece.type, piece)
    })
  }
}
