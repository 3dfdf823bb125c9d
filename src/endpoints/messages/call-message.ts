/** Calling a provider for a message: by its own Messages API, or in another format that it speaks. */
import { Verbatim, type Call, type MessageAnswer, type Provider } from '../../providers/contract.ts'
import { providerItself } from '../../providers/work.ts'
import { textBytes } from '../../money/prices/estimate.ts'
import { fieldsOf } from '../../wire/json.ts'
import { usageOfMessage } from '../../wire/message-usage.ts'
import type { MessageRequest } from '../../wire/messages.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { answerWithDigits } from '../digits.ts'
import type { Context } from '../endpoint.ts'
import { bareMaker } from '../../formats/envelope.ts'
import { messageInOtherMode, translatedMessage } from './translated.ts'
import { nativeCall } from './native.ts'
import { openEvents, type OpenMessage } from './open-message.ts'
import { checkLong } from './request.ts'
import { sealedMessage, sealedPieces } from './seal-thinking.ts'
import { thinkingMakerOf } from '../../formats/messages/thinking-maker.ts'

/** Calls the provider. Resolves once the first content or the whole message has arrived. */
export function callMessage(
  provider: Provider,
  call: Call<MessageRequest>,
  context: Context<MessageRequest>,
): Promise<OpenMessage> {
  if (providerItself(provider).message !== undefined && context.inParts !== true)
    return nativeMessage(provider, call, context)
  checkLong(call)
  return translatedMessage(provider, call, context)
}

async function nativeMessage(
  provider: Provider,
  call: Call<MessageRequest>,
  context: Context<MessageRequest>,
): Promise<OpenMessage> {
  const answer = await provider.message?.(nativeCall(call, context))
  if (answer === undefined) throw new TypeError('the provider returned no answer')
  return Symbol.asyncIterator in answer === call.stream
    ? fromVendor(answer, call, context)
    : messageInOtherMode(answer, provider, call, context)
}

function fromVendor(
  answer: MessageAnswer,
  call: Call<MessageRequest>,
  context: AnswerContext,
): OpenMessage | Promise<OpenMessage> {
  const maker = thinkingMakerOf(call.model)
  if (Symbol.asyncIterator in answer) {
    return openEvents(maker === bareMaker ? answer : sealedPieces(answer, maker), false)
  }
  const plain = answer instanceof Verbatim ? answer.value : answer
  const message = maker === bareMaker ? plain : sealedMessage(answerWithDigits(answer), maker)
  context.meter.usage = usageOfMessage(fieldsOf(message.usage))
  context.meter.textBytes = textBytes(message.content)
  const { id, stop_reason: reason } = message
  context.meter.watch?.answered({ id, finishReasons: typeof reason === 'string' ? [reason] : [] })
  return {
    kind: 'whole',
    body: message,
    bytes: answer instanceof Verbatim && message === plain ? answer.bytes : undefined,
  }
}
