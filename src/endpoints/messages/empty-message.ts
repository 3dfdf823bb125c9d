import type { Message } from '../../wire/messages.ts'
import { usageOf } from '../../wire/usage.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { messageUsage } from './usage.ts'

/**
 * A message without content. Clients show the input tokens of the first event while the message is streamed, so it has an
 * estimate of them.
 */
export function emptyMessage(context: Pick<AnswerContext, 'id' | 'order'>): Message {
  return {
    ...messageHead(context),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: messageUsage(usageOf(Math.max(1, context.order.promptTokens), 1)),
  }
}

/** The fields that do not depend on the answer. */
export function messageHead({
  id,
  order,
}: Pick<AnswerContext, 'id' | 'order'>): Pick<Message, 'id' | 'type' | 'role' | 'model'> {
  return { id: id.replace('req_', 'msg_'), type: 'message', role: 'assistant', model: order.model }
}
