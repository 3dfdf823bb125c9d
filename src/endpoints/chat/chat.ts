/** `POST /v1/chat/completions`. */
import { bytesReply, jsonReply } from '../../http/answers.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { usageOf } from '../../wire/usage.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { askChat, type OpenChat } from './ask.ts'
import { chatFrames } from './frames.ts'
import { readChat } from './request.ts'

export const chat: CallEndpoint<ChatRequest, OpenChat> = {
  name: 'chat.completions',
  read: readChat,
  ask: askChat,
  frames: chatFrames,
  whole(answer, { order, meter }) {
    if (answer.kind === 'pieces') throw new TypeError('a streamed answer is not whole')
    const { completion, bytes } = answer
    if (completion.usage !== undefined) return bytes === undefined ? jsonReply(completion) : bytesReply(bytes)
    return jsonReply({ ...completion, usage: usageOf(order.promptTokens, meter.estimatedCompletionTokens) })
  },
}
