/** Counting the usage and the text of a vendor's own events. */
import type { Tally } from '../../money/tally.ts'
import { MessageFrames, type MessagePiece } from '../../providers/message.ts'
import { usageOfMessage, withTotals } from '../../wire/message-usage.ts'
import type { MessageUsage } from '../../wire/messages.ts'

/** Tells a meter what the pieces of one message say. */
export class EventUsage {
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
