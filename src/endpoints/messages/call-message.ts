/** Calling a provider for a message: by its own Messages API, by its chat, or by its responses endpoint. */
import { Verbatim, type Call, type MessageAnswer, type Provider } from '../../providers/contract.ts'
import { textBytes } from '../../money/prices/estimate.ts'
import { usageOfMessage } from '../../wire/message-usage.ts'
import type { MessageRequest } from '../../wire/messages.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import type { Context } from '../endpoint.ts'
import { bareMaker } from '../envelope.ts'
import { messageByChat } from './by-chat/by-chat.ts'
import { messageByResponses } from './by-responses/by-responses.ts'
import { eventsOfMessage } from './message-events.ts'
import { nativeCall } from './native.ts'
import { openEvents, type OpenMessage } from './open-message.ts'
import { checkLong } from './request.ts'
import { sealedMessage, sealedPieces } from './seal-thinking.ts'
import { thinkingMakerOf } from './thinking-maker.ts'

/** Calls the provider. Resolves once the first content or the whole message has arrived. */
export async function callMessage(
  provider: Provider,
  call: Call<MessageRequest>,
  context: Context<MessageRequest>,
): Promise<OpenMessage> {
  if (provider.message !== undefined) {
    return fromVendor(await provider.message(nativeCall(call, context)), call, context)
  }
  checkLong(call)
  if (provider.respond === undefined) return messageByChat(provider, call, context)
  // A responses endpoint returns the reasoning that the model needs again; chats may not.
  return messageByResponses(provider, call, context)
}

function fromVendor(
  answer: MessageAnswer,
  call: Call<MessageRequest>,
  context: AnswerContext,
): OpenMessage | Promise<OpenMessage> {
  const maker = thinkingMakerOf(call.model)
  if (Symbol.asyncIterator in answer) {
    return openEvents(maker === bareMaker ? answer : sealedPieces(answer, maker), call, false, context)
  }
  const plain = answer instanceof Verbatim ? answer.value : answer
  const message = maker === bareMaker ? plain : sealedMessage(plain, maker)
  if (call.stream) return openEvents(eventsOfMessage(message), call, false, context)
  context.meter.usage = usageOfMessage(message.usage ?? {})
  context.meter.textBytes = textBytes(message.content)
  const { id, stop_reason: reason } = message
  context.meter.watch?.answered({ id, finishReasons: typeof reason === 'string' ? [reason] : [] })
  return { kind: 'whole', message, bytes: answer instanceof Verbatim && message === plain ? answer.bytes : undefined }
}
