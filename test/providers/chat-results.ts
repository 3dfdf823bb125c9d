/** Collects chat responses for comparison: from a provider's pieces, and from the official client. */
import type { OpenAI } from 'openai'
import { ContentFrames, type ChatPiece } from 'modelhatch/providers'
import { ChatStreamState } from '../../src/endpoints/chat/stream-state.ts'
import {
  emptyResult,
  resultOfChunks,
  resultOfCompletion,
  errorOf,
  type ChatResult,
} from '../../src/testing/chat-result.ts'

export type { ChatResult }

/** The result of a provider's pieces, without a gateway. */
export async function resultOfPieces(pieces: AsyncIterable<ChatPiece> | Iterable<ChatPiece>): Promise<ChatResult> {
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

/** The result that the official client gets, streamed or not. */
export async function resultOfClient(client: OpenAI, request: object, stream: boolean): Promise<ChatResult> {
  try {
    if (!stream) return resultOfCompletion((await client.chat.completions.create(request as never)) as never)
    const body = { ...request, stream, stream_options: { include_usage: true } }
    return await resultOfChunks((await client.chat.completions.create(body as never)) as never)
  } catch (error) {
    return { ...emptyResult(), error: errorOf(error) }
  }
}
