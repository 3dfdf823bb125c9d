/** Answers that have arrived, or whose first content has. */
import { bytesReply, jsonReply } from '../http/answers.ts'
import type { Reply } from '../http/exchange.ts'
import type { Flow } from '../http/flow.ts'

/** All of an answer. `bytes`: as the vendor sent it, if nothing has to change. */
export interface Whole<Body> {
  readonly kind: 'whole'
  readonly body: Body
  readonly bytes?: Uint8Array | undefined
}

/** An answer in pieces, of which the first with content has arrived. */
export interface Streamed<Piece> {
  readonly kind: 'stream'
  readonly pieces: Flow<Piece>
}

/** `More`: what an endpoint keeps of a stream. */
export type Open<Body, Piece, More extends object = object> = Whole<Body> | (Streamed<Piece> & More)

/** The answer to a call that did not stream. */
export function wholeOf<Body>(answer: Open<Body, unknown>): Whole<Body> {
  if (answer.kind === 'stream') throw new TypeError('a non-streaming call returned a stream')
  return answer
}

/** The answer to a call that streamed. */
export function streamOf<Stream extends Streamed<unknown>>(answer: Whole<unknown> | Stream): Stream {
  if (answer.kind === 'whole') throw new TypeError('a streaming call returned no stream')
  return answer
}

/** The non-streaming reply: the vendor's own bytes if nothing had to change. */
export function replyOf(answer: Open<object, unknown>): Reply {
  const { body, bytes } = wholeOf(answer)
  return bytes === undefined ? jsonReply(body) : bytesReply(bytes)
}

/** Ends a stream that is no longer needed. */
export function discard(answer: Open<unknown, unknown>): void {
  if (answer.kind === 'stream') answer.pieces.stop()
}
