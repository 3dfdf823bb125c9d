/** Calling a provider for a chat: by its own, or by another wire format. */
import type { Call, Provider } from '../../providers/contract.ts'
import type { ChatChunk, ChatCompletion, ChatRequest } from '../../wire/chat.ts'
import { providerItself } from '../../providers/work.ts'
import { openAnswer, type AnswerForm, type AnswerContext } from '../chunk-answer.ts'
import type { Context } from '../endpoint.ts'
import { makerOf } from '../../formats/envelope.ts'
import { completionOf } from './completion.ts'
import { mayHoldEnvelopes, withUnsealedState } from './unseal-state.ts'
import { chatInOtherMode, translatedChat, type OpenChat } from './translated.ts'
import { hasContent } from './choice.ts'
import { ChatStreamState, type FullChunk } from './stream-state.ts'

/** The response format of chat completions. */
export const chatForm: AnswerForm<ChatChunk, FullChunk, ChatCompletion> = {
  idPrefix: 'chatcmpl-',
  state: (head, renamed, maker) => new ChatStreamState(head, renamed, maker),
  hasContent,
  normalise: completionOf,
}

/**
 * Calls the provider and waits for the first content or the whole response. Clients carry the state of the messages in
 * envelopes.
 */
export function callChat(
  provider: Provider,
  call: Call<ChatRequest>,
  context: AnswerContext & Pick<Context<ChatRequest>, 'order'>,
): Promise<OpenChat> {
  const itself = providerItself(provider)
  if (itself.chat === undefined || context.inParts === true) return translatedChat(provider, call, context)
  const maker = makerOf(itself)
  if (!mayHoldEnvelopes(context.order)) return openChat(provider, call, context, maker)
  return withUnsealedState(call, maker).then((own) => openChat(provider, own, context, maker))
}

async function openChat(
  provider: Provider,
  call: Call<ChatRequest>,
  context: AnswerContext,
  maker: string,
): Promise<OpenChat> {
  const answer = await provider.chat?.(call)
  if (answer === undefined) throw new TypeError('the provider returned no answer')
  if (Symbol.asyncIterator in answer !== call.stream) return chatInOtherMode(answer, provider, call, context)
  return openAnswer(chatForm, answer, call, context, maker)
}
