/** Asking a provider for a chat, until the answer is sure enough to be begun. */
import { GatewayError } from '../../errors.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { ChatChunk, ChatCompletion, ChatRequest } from '../../wire/chat.ts'
import { openAnswer, type AnswerForm, type AnswerVisit, type OpenAnswer } from '../chunk-answer.ts'
import { collect } from './collect.ts'
import { completionOf } from './completion.ts'
import { explode } from './explode.ts'
import { ChatStreamState, type FullChunk } from './stream-state.ts'

export type OpenChat = OpenAnswer<ChatChunk, FullChunk, ChatCompletion>

export const chatForm: AnswerForm<ChatChunk, FullChunk, ChatCompletion> = {
  idPrefix: 'chatcmpl-',
  state: (head, renamed) => new ChatStreamState(head, renamed),
  tellsSomething,
  collect,
  normalise: completionOf,
  explode,
}

/** `inChunks`: the answer is wanted in chunks, whether or not the provider is asked to stream. */
export async function askChat(
  provider: Provider,
  call: Call<ChatRequest>,
  visit: AnswerVisit,
  inChunks: boolean = call.stream,
): Promise<OpenChat> {
  if (provider.chat === undefined) {
    throw new GatewayError('unsupported_value', { param: 'model', message: 'This model does not chat.' })
  }
  const { model, publicModel, signal } = call
  return openAnswer(chatForm, await provider.chat(call), { model, publicModel, signal, stream: inChunks }, visit)
}

function tellsSomething({ choices }: ChatChunk): boolean {
  return (choices ?? []).some(({ delta, message, finish_reason: reason }) => {
    const { role: _, ...told } = delta ?? message ?? {}
    return Boolean(reason) || Object.values(told).some((value) => value !== null && value !== '')
  })
}
