import type { ChatRequest } from '../../wire/chat.ts'
import { discardAnswer, framesOf, keepAliveFrames, wholeReply } from '../chunk-answer.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { callChatForClient, chatForm, type OpenChat } from './call-chat.ts'
import { readChat } from './request.ts'

/** `POST /v1/chat/completions`. */
export const chat: CallEndpoint<ChatRequest, OpenChat> = {
  name: 'chat.completions',
  makes: 'text',
  lengthFields: ['max_completion_tokens', 'max_tokens'],
  read: readChat,
  ask: callChatForClient,
  discard: discardAnswer,
  whole: wholeReply,
  frames: framesOf,
  readsLater: ['stream_options'],
  ...keepAliveFrames(chatForm),
}
