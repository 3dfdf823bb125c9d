import { messageErrorFrame } from '../../http/message-error.ts'
import { eventFrame } from '../../http/sse.ts'
import type { MessageRequest, MessageUsage } from '../../wire/messages.ts'
import { beginningOf } from '../beginning.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { callMessage } from './call-message.ts'
import type { OpenMessage } from './open-message.ts'
import { discard, replyOf, streamOf } from '../open.ts'
import { readMessage } from './request.ts'
import type { Flow } from '../../http/flow.ts'
import { FrameWriter } from '../../http/mapped-flow.ts'
import { unreadable } from '../../providers/failure.ts'
import { MessageFrames, type MessagePiece } from '../../providers/message.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { readVendor } from '../read-vendor.ts'
import type { Tally } from '../../money/tally.ts'
import { usageOfMessage, withTotals } from '../../wire/message-usage.ts'

const ping = eventFrame('ping', { type: 'ping' })

/** `POST /v1/messages`. */
export const messages: CallEndpoint<MessageRequest, OpenMessage> = defineEndpoint({
  method: 'POST',
  path: '/v1/messages',
  name: 'messages',
  makes: 'text',
  lengthFields: ['max_tokens'],
  read: readMessage,
  beginning: ({ field }) => beginningOf(field('system'), field('messages')),
  ask: callMessage,
  discard,
  whole: replyOf,
  frames: messageFrames,
  readsLater: [],
  idle: () => ping,
  failed: (error, { id }) => messageErrorFrame(error, id),
})

/** The frames of a message; they fail if its events end without `message_stop`. */
function messageFrames(answer: OpenMessage, { meter }: AnswerContext): Flow<string | Uint8Array> {
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

/** Tells a meter what the pieces of one message say. */
class EventUsage {
  readonly #meter: Tally
  #usage: MessageUsage = {}
  #id: string | undefined

  constructor(meter: Tally) {
    this.#meter = meter
  }

  count(piece: MessagePiece): void {
    if (piece instanceof MessageFrames) {
      this.#meter.textBytes += piece.textBytes
      if (piece.usage !== undefined) this.#meter.usage = usageOfMessage(piece.usage)
      this.#id ??= piece.id
      this.#stopped(piece.stopReason)
    } else if (piece.type === 'content_block_delta') this.#meter.textBytes += deltaBytes(piece.delta)
    else if (piece.type === 'message_start') {
      this.#id = piece.message.id
      this.#add(piece.message.usage)
    } else if (piece.type === 'message_delta') {
      this.#add(piece.usage)
      this.#stopped(piece.delta.stop_reason)
    }
  }

  #stopped(reason: string | null | undefined): void {
    if (typeof reason === 'string') this.#meter.watch?.answered({ id: this.#id, finishReasons: [reason] })
  }

  #add(usage: MessageUsage | undefined): void {
    this.#usage = withTotals(this.#usage, usage)
    this.#meter.usage = usageOfMessage(this.#usage)
  }
}

function deltaBytes(delta: Readonly<Record<string, unknown>>): number {
  const text = delta['text'] ?? delta['partial_json'] ?? delta['thinking']
  return typeof text === 'string' ? Buffer.byteLength(text) : 0
}
