/** What a client is told by a chat answer: of a provider's own pieces, and of the official client. */
import type { OpenAI } from 'openai'
import { ContentFrames, type ChatPiece } from 'modelhatch/providers'
import { ChatStreamState } from '../../src/endpoints/chat/stream-state.ts'
import {
  emptyResult,
  resultOfChunks,
  resultOfCompletion,
  errorOf,
  type ChatResult as Told,
} from '../../src/testing/chat-result.ts'

export type { Told }

/** What a provider's pieces tell, without a gateway around them. */
export async function toldByPieces(pieces: AsyncIterable<ChatPiece> | Iterable<ChatPiece>): Promise<Told> {
  return resultOfChunks(
    (async function* () {
      const state = new ChatStreamState({ id: 'chatcmpl-test', created: 1, model: 'test' }, false)
      for await (const piece of pieces) {
        if (piece instanceof ContentFrames) throw new TypeError('frames are for the gateway')
        yield* state.accept(piece)
      }
      yield* state.complete()
      yield { ...state.last(), usage: state.usage }
    })(),
  )
}

/** What the official client is told, with and without `stream`. */
export async function toldByClient(client: OpenAI, request: object, stream: boolean): Promise<Told> {
  try {
    if (!stream) return resultOfCompletion((await client.chat.completions.create(request as never)) as never)
    const asked = { ...request, stream, stream_options: { include_usage: true } }
    return await resultOfChunks((await client.chat.completions.create(asked as never)) as never)
  } catch (error) {
    return { ...emptyResult(), error: errorOf(error) }
  }
}
