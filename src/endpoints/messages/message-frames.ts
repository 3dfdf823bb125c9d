/** The frames of a streamed message, from events or from the vendor's own frames. */
import type { Flow } from '../../http/flow.ts'
import { FrameWriter } from '../../http/mapped-flow.ts'
import { eventFrame } from '../../http/sse.ts'
import { unreadable } from '../../providers/failure.ts'
import { MessageFrames, type MessagePiece } from '../../providers/message.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { streamOf } from '../open.ts'
import { readVendor } from '../read-vendor.ts'
import type { OpenMessage } from './open-message.ts'
import { EventUsage } from './event-usage.ts'

/** The frames of a message; they fail if its events end without `message_stop`. */
export function messageFrames(answer: OpenMessage, { meter }: AnswerContext): Flow<string | Uint8Array> {
  const { pieces, isCounted } = streamOf(answer)
  return new MessageWriter(pieces, isCounted ? undefined : new EventUsage(meter))
}

class MessageWriter extends FrameWriter<MessagePiece> {
  readonly #tally: EventUsage | undefined
  /** Whether an event is the last one, or the provider watches the end of its own frames. */
  #isComplete = false

  constructor(pieces: Flow<MessagePiece>, tally: EventUsage | undefined) {
    super(pieces)
    this.#tally = tally
  }

  protected end(): string {
    if (!this.#isComplete) throw unreadable("the vendor's stream ended before the response was complete")
    return ''
  }

  protected print(piece: MessagePiece): string | Uint8Array {
    if (piece instanceof MessageFrames) {
      this.#isComplete = true
      this.#tally?.count(piece)
      return piece.frames
    }
    this.#isComplete = piece.type === 'message_stop'
    return readVendor(() => {
      this.#tally?.count(piece)
      return eventFrame(piece.type, piece)
    })
  }
}
