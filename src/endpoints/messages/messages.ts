import { messageErrorFrame } from '../../http/message-error.ts'
import { eventFrame } from '../../http/sse.ts'
import type { MessageRequest } from '../../wire/messages.ts'
import { beginningOf } from '../beginning.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { callMessage } from './call-message.ts'
import { messageFrames } from './message-frames.ts'
import type { OpenMessage } from './open-message.ts'
import { discard, replyOf } from '../open.ts'
import { readMessage } from './request.ts'

const ping = eventFrame('ping', { type: 'ping' })

/** `POST /v1/messages`. */
export const messages: CallEndpoint<MessageRequest, OpenMessage> = defineEndpoint({
  method: 'POST',
  path: '/v1/messages',
  name: 'messages',
  makes: 'text',
  lengthFields: ['max_tokens'],
  read: readMessage,
  beginning: ({ field }) => beginningOf(field('system'), field('messages')),
  ask: callMessage,
  discard,
  whole: replyOf,
  frames: messageFrames,
  readsLater: [],
  idle: () => ping,
  failed: (error, { id }) => messageErrorFrame(error, id),
})
