import { eventFrame, sseHeaders } from '../../http/sse.ts'
import type { Reply } from '../../http/exchange.ts'
import type { ResponseObject } from '../../wire/responses.ts'
import { usageOf } from '../../wire/usage.ts'
import type { Early } from '../endpoint.ts'
import { withIds } from './answer.ts'
import { emptyResponse } from './empty-response.ts'
import type { ResponseOrder } from './request.ts'
import { responseUsage } from '../../wire/response-usage.ts'

/**
 * The reply to a request that only prepares the next one: a response without output, which the next request continues.
 * Rejects if it cannot be stored.
 */
export async function prewarmed(order: ResponseOrder, { id, startedAt }: Early): Promise<Reply> {
  const response = emptyResponse({ id, order, startedAt })
  const completed: ResponseObject = {
    ...response,
    status: 'completed',
    completed_at: response.created_at,
    usage: responseUsage(usageOf(0, 0)),
  }
  const input = withIds(id, order)
  await order.archive?.put({ input, response: completed }, input.slice(order.conversation.earlier))
  const body = [
    eventFrame('response.created', { type: 'response.created', sequence_number: 0, response }),
    eventFrame('response.completed', { type: 'response.completed', sequence_number: 1, response: completed }),
  ].join('')
  return { status: 200, headers: sseHeaders, body }
}
