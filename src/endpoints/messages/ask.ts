/** Calling a provider for a message: by its own Messages API, by its chat, or by its responses endpoint. */
import { whenReady, type Eventual } from '../../eventual.ts'
import { cancellationOf } from '../../http/cancellation.ts'
import type { Flow } from '../../http/flow.ts'
import { Verbatim, type Call, type MessageAnswer, type Provider } from '../../providers/contract.ts'
import { MessageFrames, type MessagePiece } from '../../providers/message.ts'
import { textBytes } from '../../billing/estimate.ts'
import { usageOfMessage } from '../../wire/message-usage.ts'
import type { Message, MessageEvent, MessageRequest } from '../../wire/messages.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import type { Context } from '../endpoint.ts'
import { bareMaker } from '../envelope.ts'
import { opened } from '../opening.ts'
import { messageByChat } from './by-chat/by-chat.ts'
import { messageByResponses } from './by-responses/by-responses.ts'
import { collectMessage } from './collect.ts'
import { explodeMessage } from './explode.ts'
import { nativeCall } from './native.ts'
import { checkLong } from './request.ts'
import { sealedMessage, sealedPieces } from './sealing.ts'
import { counted } from './tally.ts'
import { withTextLast } from './text-last.ts'
import { thinkingMakerOf } from './thinking-maker.ts'

/** A message whose first content, or all of it, has arrived. */
export type OpenMessage =
  | { readonly kind: 'whole'; readonly message: Message; readonly bytes?: Uint8Array | undefined }
  | { readonly kind: 'stream'; readonly pieces: Flow<MessagePiece>; readonly isCounted: boolean }

/** Calls the provider. Resolves once the first content or the whole message has arrived. */
export async function askMessage(
  provider: Provider,
  call: Call<MessageRequest>,
  context: Context<MessageRequest>,
): Promise<OpenMessage> {
  if (provider.message !== undefined) {
    return fromVendor(await provider.message(nativeCall(call, context)), call, context)
  }
  checkLong(call)
  // A responses endpoint returns the reasoning that the model needs again; chats may not.
  const translated = provider.respond === undefined ? messageByChat : messageByResponses
  const answer = await translated(provider, call, context)
  if (!(Symbol.asyncIterator in answer)) return { kind: 'whole', message: answer }
  return fromEvents(answer, call, true, context)
}

function fromVendor(answer: MessageAnswer, call: Call<MessageRequest>, context: AnswerContext): Eventual<OpenMessage> {
  const maker = thinkingMakerOf(call.model)
  if (Symbol.asyncIterator in answer) {
    return fromEvents(maker === bareMaker ? answer : sealedPieces(answer, maker), call, false, context)
  }
  const plain = answer instanceof Verbatim ? answer.value : answer
  const message = maker === bareMaker ? plain : sealedMessage(plain, maker)
  if (call.stream) return fromEvents(explodeMessage(message), call, false, context)
  context.meter.usage = usageOfMessage(message.usage ?? {})
  context.meter.textBytes = textBytes(message.content)
  const { id, stop_reason: reason } = message
  context.meter.watch?.answered({ id, finishReasons: typeof reason === 'string' ? [reason] : [] })
  return { kind: 'whole', message, bytes: answer instanceof Verbatim && message === plain ? answer.bytes : undefined }
}

/** `isCounted`: whether the gateway made the events, and has told the meter their usage. */
function fromEvents(
  events: AsyncIterable<MessagePiece>,
  call: Call<MessageRequest>,
  isCounted: boolean,
  context: AnswerContext,
): Eventual<OpenMessage> {
  if (call.stream) {
    return whenReady(opened(events, hasContent, isEnd), (pieces) => ({ kind: 'stream', pieces, isCounted }))
  }
  const read = isCounted ? events : counted(events as AsyncIterable<MessageEvent>, context.meter)
  const whole = collectMessage(read as AsyncIterable<MessageEvent>, cancellationOf(call))
  return whole.then((message) => ({ kind: 'whole', message: isCounted ? withTextLast(message) : message }))
}

function hasContent(piece: MessagePiece): boolean {
  if (piece instanceof MessageFrames) return piece.hasContent
  return piece.type === 'content_block_delta' || piece.type === 'content_block_stop' || isEnd(piece)
}

function isEnd(piece: MessagePiece): boolean {
  return piece instanceof MessageFrames || piece.type === 'message_delta' || piece.type === 'message_stop'
}
