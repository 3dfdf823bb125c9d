/** What a provider passes on as it has received it, without parsing it or writing it again. */
import type { Usage } from '../wire/usage.ts'

/**
 * Complete SSE frames in OpenAI's format, passed on byte for byte. They hold only content deltas and already carry the
 * public model name: no tool call, finish reason, usage, error or `[DONE]`. The first piece of a response must be a chunk,
 * because the gateway takes the id and the creation time from it.
 */
export class ContentFrames {
  /** The frames, as text or as UTF-8. */
  readonly frames: string | Uint8Array
  /** Size of the content in UTF-8 bytes, without JSON escapes. It is charged if the client disconnects. */
  readonly textBytes: number

  constructor(frames: string | Uint8Array, textBytes: number) {
    this.frames = frames
    this.textBytes = textBytes
  }

  /** The frames as UTF-8. */
  get bytes(): Uint8Array {
    return typeof this.frames === 'string' ? Buffer.from(this.frames) : this.frames
  }
}

/** A parsed response with the JSON text it was parsed from. The gateway sends the text if it has nothing to change. */
export class Verbatim<T> {
  /** The parsed response. */
  readonly value: T
  /** The JSON text, as UTF-8. */
  readonly bytes: Uint8Array

  constructor(value: T, bytes: Uint8Array) {
    this.value = value
    this.bytes = bytes
  }
}

/**
 * Embeddings as JSON text, for responses too large to parse without need. The text is the complete response in OpenAI's
 * format, with the requested encoding of the vectors and the public model name.
 */
export class EmbeddingText {
  /** The JSON text in UTF-8, in one piece or several. */
  readonly pieces: readonly Uint8Array[]
  /** The vendor's usage; undefined if it reported none. */
  readonly usage: Usage | undefined

  /** `text`: in UTF-8. Several pieces need not be joined: they are sent one after the other. */
  constructor(text: Uint8Array | readonly Uint8Array[], usage: Usage | undefined) {
    this.pieces = text instanceof Uint8Array ? [text] : text
    this.usage = usage
  }
}
