/** Asking a conversation that was kept once more, at any model. Not served over HTTP: administration does it. */
import type { Conversation } from '../conversation/conversation.ts'
import type { Answer } from '../conversation/parts.ts'
import { GatewayError } from '../errors.ts'
import { chat } from '../formats/chat/chat.ts'
import type { Format } from '../formats/format.ts'
import { jsonReply } from '../http/answers.ts'
import type { CallEndpoint } from './endpoint.ts'
import { wholeOf } from './open.ts'
import type { ClientWire } from './translated/plan.ts'
import { translated } from './translated/translated.ts'

/** A conversation for a model. */
export interface ReplayRequest {
  readonly model: string
  readonly conversation: Conversation
}

/** The client speaks the form inside. */
const inside: Format<never> = {
  ...chat,
  fieldNames: {},
  readRequest: ({ conversation }) => conversation as Conversation,
  writeAnswer: (answer) => ({ answer }),
}
const client: ClientWire = { format: inside, idPrefix: 'replay-', asksOwnName: true }

/** Its answer is whole, whether or not the first one was streamed. */
export const replay: CallEndpoint<ReplayRequest, Answer> = {
  method: 'POST',
  path: [],
  name: 'replay',
  makes: 'text',
  read: () => {
    throw new GatewayError('not_found')
  },
  async ask(provider, call, context) {
    const { body } = wholeOf(await translated(client, provider, call, context))
    return body['answer'] as Answer
  },
  whole: (answer) => jsonReply(answer),
}
