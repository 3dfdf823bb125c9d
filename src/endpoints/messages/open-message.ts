import { MessageFrames, type MessagePiece } from '../../providers/message.ts'
import type { Message } from '../../wire/messages.ts'
import { afterFirstContent } from '../first-content.ts'
import type { Open } from '../open.ts'

/** A message whose first content, or all of it, has arrived. */
export type OpenMessage = Open<Message, MessagePiece, { readonly isCounted: boolean }>

/** The message of a stream. `isCounted`: whether the meter knows already what the events say. */
export async function openEvents(events: AsyncIterable<MessagePiece>, isCounted: boolean): Promise<OpenMessage> {
  return { kind: 'stream', pieces: await afterFirstContent(events, hasContent, isEnd), isCounted }
}

function hasContent(piece: MessagePiece): boolean {
  if (piece instanceof MessageFrames) return piece.hasContent
  return piece.type === 'content_block_delta' || piece.type === 'content_block_stop' || isEnd(piece)
}

function isEnd(piece: MessagePiece): boolean {
  return piece instanceof MessageFrames || piece.type === 'message_delta' || piece.type === 'message_stop'
}
