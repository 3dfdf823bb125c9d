import { bytesReply, jsonReply } from '../../http/answers.ts'
import type { Reply } from '../../http/exchange.ts'
import type { OpenMessage } from './open-message.ts'
import { writtenMessage } from './message-json.ts'

/** The non-streaming reply: the vendor's own bytes if nothing had to change. */
export function wholeMessage(answer: OpenMessage): Reply {
  if (answer.kind === 'stream') throw new TypeError('a streamed message has no non-streaming reply')
  const { message, bytes, isMade = false } = answer
  if (isMade) return bytesReply(writtenMessage(message))
  return bytes === undefined ? jsonReply(message) : bytesReply(bytes)
}
