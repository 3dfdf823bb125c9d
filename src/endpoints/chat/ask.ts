/** Asking a provider for a chat, until the answer is sure enough to be begun. */
import { GatewayError } from '../../errors.ts'
import { Verbatim, ContentFrames, type Call, type ChatPiece, type Provider } from '../../providers/contract.ts'
import { unavailable } from '../../providers/failure.ts'
import type { ChatCompletion, ChatRequest } from '../../wire/chat.ts'
import type { Visit } from '../endpoint.ts'
import { collect } from './collect.ts'
import { completionOf } from './completion.ts'
import { explode } from './explode.ts'
import { headFor } from './head.ts'
import { ChatStreamState } from './stream-state.ts'

/** A chat answer that has begun well. */
export type OpenChat =
  | { readonly kind: 'whole'; readonly completion: ChatCompletion; readonly bytes?: Uint8Array }
  | {
      readonly kind: 'pieces'
      readonly state: ChatStreamState
      readonly seen: ChatPiece[]
      readonly rest: AsyncIterator<ChatPiece>
    }

export async function askChat(
  provider: Provider,
  call: Call<ChatRequest>,
  visit: Visit<ChatRequest>,
): Promise<OpenChat> {
  if (provider.chat === undefined) {
    throw new GatewayError('unsupported_value', { param: 'model', message: 'This model does not chat.' })
  }
  const answer = await provider.chat(call)
  const renamed = call.publicModel !== call.model
  if (isPieces(answer)) {
    if (call.stream) return peek(answer[Symbol.asyncIterator](), new ChatStreamState(headFor(visit), renamed))
    return { kind: 'whole', completion: await collect(answer, headFor(visit), renamed, visit.meter) }
  }
  const value = answer instanceof Verbatim ? answer.value : answer
  const completion = completionOf(value, headFor(visit), renamed)
  if (call.stream) return peek(explode(completion), new ChatStreamState(headFor(visit), false))
  visit.meter.usage = completion.usage
  const untouched = answer instanceof Verbatim && completion === value
  return { kind: 'whole', completion, ...(untouched && { bytes: answer.bytes }) }
}

function isPieces(answer: object): answer is AsyncIterable<ChatPiece> {
  return Symbol.asyncIterator in answer
}

/** Reads up to the first content, so that an error in front of it still becomes a status or another attempt. */
async function peek(pieces: AsyncIterator<ChatPiece>, state: ChatStreamState): Promise<OpenChat> {
  const seen: ChatPiece[] = []
  for (;;) {
    const next = await pieces.next()
    if (next.done === true) {
      if (seen.some((piece) => piece instanceof ContentFrames || piece.choices?.length)) break
      throw unavailable('same', new Error('the vendor ended the answer before its first word'))
    }
    seen.push(next.value)
    if (tellsSomething(next.value)) break
  }
  return { kind: 'pieces', state, seen, rest: pieces }
}

function tellsSomething(piece: ChatPiece): boolean {
  if (piece instanceof ContentFrames) return true
  return (piece.choices ?? []).some(({ delta = {}, finish_reason: reason }) => {
    const { role: _, ...told } = delta
    return Boolean(reason) || Object.values(told).some((value) => value !== null && value !== '')
  })
}
