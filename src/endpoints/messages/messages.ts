import { messageErrorFrame } from '../../http/message-error.ts'
import { eventFrame } from '../../http/sse.ts'
import type { MessageRequest } from '../../wire/messages.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { callMessage } from './call-message.ts'
import { messageFrames } from './message-frames.ts'
import type { OpenMessage } from './open-message.ts'
import { readMessage } from './request.ts'
import { wholeMessage } from './whole.ts'

const ping = eventFrame('ping', { type: 'ping' })

/** `POST /v1/messages`. */
export const messages: CallEndpoint<MessageRequest, OpenMessage> = {
  name: 'messages',
  makes: 'text',
  lengthFields: ['max_tokens'],
  read: readMessage,
  ask: callMessage,
  discard(answer) {
    if (answer.kind === 'stream') answer.pieces.stop()
  },
  whole: wholeMessage,
  frames: messageFrames,
  readsLater: [],
  idle: () => ping,
  failed: (error, { id }) => messageErrorFrame(error, id),
}
