/** Pieces → the frames of an OpenAI chat stream. */
import { dataFrame, doneFrame } from '../../http/sse.ts'
import { ContentFrames, type ChatPiece } from '../../providers/contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { usageOf } from '../../wire/usage.ts'
import type { Visit } from '../endpoint.ts'
import type { OpenChat } from './ask.ts'
import type { FullChunk } from './stream-state.ts'

/**
 * Usage goes to the client only if it asked for it, in one last chunk without choices: others have been seen to break
 * on such a chunk. The vendor is always asked.
 */
export async function* chatFrames(answer: OpenChat, visit: Visit<ChatRequest>): AsyncGenerator<string | Uint8Array> {
  if (answer.kind === 'whole') throw new TypeError('a whole answer has no frames')
  const { meter, order } = visit
  const { state, seen, rest } = answer
  const options = order.field('stream_options') as ChatRequest['stream_options']
  const asked = options?.include_usage === true
  const print = (chunks: FullChunk[]) =>
    chunks.map((chunk) => dataFrame(asked ? { ...chunk, usage: null } : chunk)).join('')
  try {
    for (let index = 0; ; index++) {
      const piece: ChatPiece | undefined = index < seen.length ? seen[index] : await nextOf(rest)
      if (piece === undefined) break
      if (piece instanceof ContentFrames) {
        meter.estimatedCompletionTokens += piece.count
        yield piece.bytes
        continue
      }
      const chunks = state.accept(piece)
      meter.estimatedCompletionTokens += chunks.length
      meter.usage = state.usage
      if (chunks.length > 0) yield print(chunks)
    }
    const ends = state.complete()
    if (ends.length > 0) yield print(ends)
    if (asked) {
      const usage = state.usage ?? usageOf(order.promptTokens, meter.estimatedCompletionTokens)
      yield dataFrame({ ...state.chunk([]), usage })
    }
    yield doneFrame
  } finally {
    // The client may have left before the provider was done.
    void rest.return?.()?.then(undefined, () => undefined)
  }
}

async function nextOf(pieces: AsyncIterator<ChatPiece>): Promise<ChatPiece | undefined> {
  const next = await pieces.next()
  return next.done === true ? undefined : next.value
}
