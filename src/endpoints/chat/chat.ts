import type { ChatRequest } from '../../wire/chat.ts'
import { framesOf, keepAliveFrames, wholeReply } from '../chunk-answer.ts'
import { beginningOf } from '../beginning.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { callChat, chatForm } from './call-chat.ts'
import { discard } from '../open.ts'
import { readChat } from './request.ts'
import type { OpenChat } from './translated.ts'

/** `POST /v1/chat/completions`. */
export const chat: CallEndpoint<ChatRequest, OpenChat> = defineEndpoint({
  method: 'POST',
  path: '/v1/chat/completions',
  name: 'chat.completions',
  makes: 'text',
  lengthFields: ['max_completion_tokens', 'max_tokens'],
  read: readChat,
  beginning: ({ field }) => beginningOf(undefined, field('messages')),
  ask: callChat,
  discard,
  whole: wholeReply,
  frames: framesOf,
  readsLater: ['stream_options'],
  ...keepAliveFrames(chatForm),
})
