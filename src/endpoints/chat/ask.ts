/** Calling a provider's chat, for the chat endpoint and for those that are built on it. */
import { GatewayError } from '../../errors.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { ChatChunk, ChatCompletion, ChatRequest } from '../../wire/chat.ts'
import { openAnswer, type AnswerForm, type AnswerContext, type OpenAnswer } from '../chunk-answer.ts'
import { collect } from './collect.ts'
import { completionOf } from './completion.ts'
import { explode } from './explode.ts'
import { ChatStreamState, type FullChunk } from './stream-state.ts'

/** A chat response whose first content, or all of it, has arrived. */
export type OpenChat = OpenAnswer<ChatChunk, FullChunk, ChatCompletion>

/** The response format of chat completions. */
export const chatForm: AnswerForm<ChatChunk, FullChunk, ChatCompletion> = {
  idPrefix: 'chatcmpl-',
  state: (head, renamed) => new ChatStreamState(head, renamed),
  hasContent,
  collect,
  normalise: completionOf,
  explode,
}

/**
 * Calls the provider and waits for the first content or the whole response. `inChunks`: whether the caller needs
 * chunks, even if the provider does not stream. Default: as the client requested.
 */
export async function askChat(
  provider: Provider,
  call: Call<ChatRequest>,
  context: AnswerContext,
  inChunks: boolean = call.stream,
): Promise<OpenChat> {
  if (provider.chat === undefined) {
    throw new GatewayError('unsupported_value', { param: 'model', message: 'This model does not support chat.' })
  }
  const { model, publicModel, signal } = call
  return openAnswer(chatForm, await provider.chat(call), { model, publicModel, signal, stream: inChunks }, context)
}

function hasContent({ choices }: ChatChunk): boolean {
  return (choices ?? []).some(({ delta, message, finish_reason: reason }) => {
    const { role: _, ...content } = delta ?? message ?? {}
    return Boolean(reason) || Object.values(content).some((value) => value !== null && value !== '')
  })
}
