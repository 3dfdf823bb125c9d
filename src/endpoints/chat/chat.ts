/** `POST /v1/chat/completions`. */
import type { ChatRequest } from '../../wire/chat.ts'
import { discardAnswer, framesOf, wholeReply } from '../chunk-answer.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { askChat, type OpenChat } from './ask.ts'
import { readChat } from './request.ts'

export const chat: CallEndpoint<ChatRequest, OpenChat> = {
  name: 'chat.completions',
  outputField: 'max_completion_tokens',
  read: readChat,
  ask: askChat,
  discard: discardAnswer,
  whole: wholeReply,
  frames: framesOf,
}
