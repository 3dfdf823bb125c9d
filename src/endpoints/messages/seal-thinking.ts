/** Puts the signatures of a vendor's own messages into envelopes. */
import { MessageFrames, type MessagePiece } from '../../providers/message.ts'
import { eventFrame } from '../../http/sse.ts'
import type { Message, MessageBlock, MessageEvent } from '../../wire/messages.ts'
import { seal } from '../../formats/envelope.ts'

/** A whole message with its thinking sealed. */
export function sealedMessage(message: Message, maker: string): Message {
  return { ...message, content: message.content.map((block) => sealedBlock(block, maker)) }
}

/** The pieces of a streamed message with its thinking sealed. */
export async function* sealedPieces(
  pieces: AsyncIterable<MessagePiece>,
  maker: string,
): AsyncGenerator<MessagePiece, void, void> {
  const thinking = new ThinkingSealer(maker)
  for await (const piece of pieces) {
    if (piece instanceof MessageFrames) yield thinking.frames(piece)
    else yield* thinking.event(piece)
  }
}

class ThinkingSealer {
  readonly #maker: string
  /** Whether the open block is thinking without a signature. */
  #isUnsigned = false

  constructor(maker: string) {
    this.#maker = maker
  }

  frames(piece: MessageFrames): MessageFrames {
    const { frames, textBytes, hasContent, usage } = piece
    const text = typeof frames === 'string' ? frames : Buffer.from(frames).toString('utf8')
    const sealed = text.split(/(?<=\n\n)/).map((frame) => this.#frame(frame))
    const changed = new MessageFrames(sealed.join(''), textBytes, hasContent, usage)
    changed.id = piece.id
    changed.stopReason = piece.stopReason
    return changed
  }

  /** The events for one: clients drop thinking without a signature, so it gets one. */
  event(event: MessageEvent): MessageEvent[] {
    const { type } = event
    if (type === 'content_block_start') {
      const block = sealedBlock(event.content_block, this.#maker, false)
      this.#isUnsigned = block.type === 'thinking' && !block.signature
      return [block === event.content_block ? event : { ...event, content_block: block }]
    }
    if (type === 'content_block_delta' && event.delta.type === 'signature_delta') {
      this.#isUnsigned = false
      return [{ ...event, delta: { ...event.delta, signature: seal(this.#maker, event.delta.signature) } }]
    }
    if (type !== 'content_block_stop' || !this.#isUnsigned) return [event]
    this.#isUnsigned = false
    const { index } = event
    const delta = { type: 'signature_delta', signature: seal(this.#maker, '') } as const
    return [{ type: 'content_block_delta', index, delta }, event]
  }

  #frame(frame: string): string {
    const data = /^data: ?(.*)$/m.exec(frame)?.[1]
    if (data === undefined || !/content_block_st|signature_delta/.test(data)) return frame
    const event = JSON.parse(data) as MessageEvent
    const events = this.event(event)
    return events.length === 1 && events[0] === event
      ? frame
      : events.map((each) => eventFrame(each.type, each)).join('')
  }
}

/** `isWhole`: whether thinking without a signature is complete. */
function sealedBlock(block: MessageBlock, maker: string, isWhole: boolean = true): MessageBlock {
  const { type, signature, data } = block
  if (type === 'thinking' && (isWhole || signature)) return { ...block, signature: seal(maker, signature ?? '') }
  return type === 'redacted_thinking' && typeof data === 'string' ? { ...block, data: seal(maker, data) } : block
}
