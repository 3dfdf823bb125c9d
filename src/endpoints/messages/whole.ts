import { bytesReply, jsonReply } from '../../http/answers.ts'
import type { Reply } from '../../http/exchange.ts'
import type { OpenMessage } from './ask.ts'

/** The non-streaming reply: the vendor's own bytes if nothing had to change. */
export function wholeMessage(answer: OpenMessage): Reply {
  if (answer.kind === 'stream') throw new TypeError('a streamed message has no non-streaming reply')
  return answer.bytes === undefined ? jsonReply(answer.message) : bytesReply(answer.bytes)
}
