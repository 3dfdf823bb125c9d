/** Messages at vendors that do not speak this format. */
import { messages } from '../../formats/messages/messages.ts'
import { saidFields } from '../../formats/messages/field-names.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { Message, MessageEvent, MessageRequest } from '../../wire/messages.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import type { ClientWire } from '../translated/plan.ts'
import { countTranslated } from '../translated/count.ts'
import { inOtherMode, translated, type Translated } from '../translated/translated.ts'
import { openEvents, type OpenMessage } from './open-message.ts'

const client: ClientWire = {
  format: messages,
  idPrefix: 'msg_',
  hints: new Set(['reasoning', 'temperature', 'topP', 'topK', 'parallel', 'user', 'tier']),
  asksAgain: true,
  // Vendors of other formats cache by themselves.
  covered: new Set([...saidFields, 'cache_control']),
}

/** Counts a request by a vendor that does not speak this format; undefined if it does not count. */
export function countTranslatedMessage(provider: Provider, call: Call<MessageRequest>): Promise<number | undefined> {
  return countTranslated(client, provider, call)
}

/** Calls the provider in a format that it speaks, and resolves once the first content or the whole message has arrived. */
export async function translatedMessage(
  provider: Provider,
  call: Call<MessageRequest>,
  context: AnswerContext,
): Promise<OpenMessage> {
  return opened(await translated<MessageEvent>(client, provider, call, context))
}

/** The same for what a provider with this format has answered: whole to a client that streams, or the other way around. */
export async function messageInOtherMode(
  answer: object,
  provider: Provider,
  call: Call<MessageRequest>,
  context: AnswerContext,
): Promise<OpenMessage> {
  return opened(await inOtherMode<MessageEvent>(client, answer, provider, call, context))
}

function opened(answer: Translated<MessageEvent>): OpenMessage | Promise<OpenMessage> {
  if (answer.kind === 'stream') return openEvents(answer.pieces, true)
  return { kind: 'whole', body: answer.body as unknown as Message }
}
