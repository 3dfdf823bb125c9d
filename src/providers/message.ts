/** The pieces of a streamed message, as `Provider.message` returns them. */
import type { MessageEvent, MessageUsage } from '../wire/messages.ts'

/** One piece of a streamed message: an event, or SSE frames to pass on unchanged. */
export type MessagePiece = MessageEvent | MessageFrames

/**
 * Complete SSE frames of a message, with `event:` and `data:` lines, passed on byte for byte. They already carry the public
 * model name. Unlike `ContentFrames` they may hold every event, so the provider reports what they say.
 */
export class MessageFrames {
  /** The frames, as text or as UTF-8. */
  readonly frames: string | Uint8Array
  /** Size of the content in UTF-8 bytes, without JSON escapes. It is charged if the client disconnects. */
  readonly textBytes: number
  /** False if the frames have neither content nor a stop reason, so that another attempt can still follow. */
  readonly hasContent: boolean
  /** The totals so far; undefined if these frames have none. */
  readonly usage: MessageUsage | undefined
  /** The id of the message, if its start is in the frames. */
  id: string | undefined
  /** Why the message ends, if that is in the frames. */
  stopReason: string | undefined

  constructor(frames: string | Uint8Array, textBytes: number, hasContent: boolean, usage?: MessageUsage) {
    this.frames = frames
    this.textBytes = textBytes
    this.hasContent = hasContent
    this.usage = usage
  }
}
