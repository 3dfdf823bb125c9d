import { cancellationOf } from '../../http/cancellation.ts'
import type { Flow } from '../../http/flow.ts'
import type { Call } from '../../providers/contract.ts'
import { MessageFrames, type MessagePiece } from '../../providers/message.ts'
import type { Message, MessageEvent, MessageRequest } from '../../wire/messages.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { afterFirstContent } from '../first-content.ts'
import { collectMessage } from './collect.ts'
import { counted } from './event-usage.ts'

/** A message whose first content, or all of it, has arrived. */
export type OpenMessage =
  | {
      readonly kind: 'whole'
      readonly message: Message
      /** The message as the vendor sent it, if nothing has to change. */
      readonly bytes?: Uint8Array | undefined
      /** Whether the gateway made the message, so that it has the fields of the type and no others. */
      readonly isMade?: boolean
    }
  | { readonly kind: 'stream'; readonly pieces: Flow<MessagePiece>; readonly isCounted: boolean }

/**
 * The message of a stream: its pieces, or all of it for a client that does not stream. `isCounted`: whether the gateway made
 * the events, and tells the meter their usage.
 */
export async function openEvents(
  events: AsyncIterable<MessagePiece>,
  call: Call<MessageRequest>,
  isCounted: boolean,
  context: AnswerContext,
): Promise<OpenMessage> {
  if (call.stream) return { kind: 'stream', pieces: await afterFirstContent(events, hasContent, isEnd), isCounted }
  const read = isCounted ? events : counted(events as AsyncIterable<MessageEvent>, context.meter)
  const message = await collectMessage(read as AsyncIterable<MessageEvent>, cancellationOf(call))
  return isCounted ? { kind: 'whole', message: withTextLast(message), isMade: true } : { kind: 'whole', message }
}

function hasContent(piece: MessagePiece): boolean {
  if (piece instanceof MessageFrames) return piece.hasContent
  return piece.type === 'content_block_delta' || piece.type === 'content_block_stop' || isEnd(piece)
}

function isEnd(piece: MessagePiece): boolean {
  return piece instanceof MessageFrames || piece.type === 'message_delta' || piece.type === 'message_stop'
}

/** The message with state that arrived after its last text before it: many clients take the last block for the answer. */
function withTextLast(message: Message): Message {
  const { content } = message
  const at = content.length - 2
  const [text, state] = content.slice(-2)
  if (text?.type !== 'text' || state?.type !== 'thinking') return message
  return { ...message, content: [...content.slice(0, at), state, text] }
}
