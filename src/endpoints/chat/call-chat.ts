/** Calling a provider's chat, for the chat endpoint and for those that are built on it. */
import { GatewayError } from '../../errors.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { ChatChunk, ChatCompletion, ChatRequest } from '../../wire/chat.ts'
import { openAnswer, type AnswerForm, type AnswerContext, type OpenAnswer } from '../chunk-answer.ts'
import type { Context } from '../endpoint.ts'
import { makerOf } from '../envelope.ts'
import { collect } from './collect.ts'
import { completionOf } from './completion.ts'
import { chunksOfCompletion } from './completion-chunks.ts'
import { mayHoldEnvelopes, withUnsealedState } from './unseal-state.ts'
import { ChatStreamState, type FullChunk } from './stream-state.ts'

/** A chat response whose first content, or all of it, has arrived. */
export type OpenChat = OpenAnswer<ChatChunk, FullChunk, ChatCompletion>

/** The response format of chat completions. */
export const chatForm: AnswerForm<ChatChunk, FullChunk, ChatCompletion> = {
  idPrefix: 'chatcmpl-',
  state: (head, renamed, maker) => new ChatStreamState(head, renamed, maker),
  hasContent,
  collect,
  normalise: completionOf,
  chunksOf: chunksOfCompletion,
}

/**
 * Calls the provider and waits for the first content or the whole response. `inChunks`: whether the caller needs
 * chunks, even if the provider does not stream; `as answered`: the form that the provider chose. Default: as the client
 * requested. `maker`: see `openAnswer`.
 */
export async function callChat(
  provider: Provider,
  call: Call<ChatRequest>,
  context: AnswerContext,
  inChunks: boolean | 'as answered' = call.stream,
  maker?: string,
): Promise<OpenChat> {
  if (provider.chat === undefined) {
    throw new GatewayError('unsupported_value', { param: 'model', message: 'This model does not support chat.' })
  }
  const answer = await provider.chat(call)
  const asStream = inChunks === 'as answered' ? Symbol.asyncIterator in answer : inChunks
  return await openAnswer(chatForm, answer, call, context, asStream, maker)
}

/** Like `callChat`, for clients of chats: they carry the state of the messages in envelopes. */
export function callChatForClient(
  provider: Provider,
  call: Call<ChatRequest>,
  context: Context<ChatRequest>,
): Promise<OpenChat> {
  const maker = makerOf(provider)
  if (!mayHoldEnvelopes(context.order)) return callChat(provider, call, context, call.stream, maker)
  return withUnsealedState(call, maker).then((own) => callChat(provider, own, context, call.stream, maker))
}

function hasContent({ choices }: ChatChunk): boolean {
  return (choices ?? []).some(({ delta, message, finish_reason: reason }) => {
    const { role: _, ...content } = delta ?? message ?? {}
    return Boolean(reason) || Object.values(content).some((value) => value !== null && value !== '')
  })
}
