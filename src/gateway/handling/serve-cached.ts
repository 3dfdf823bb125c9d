import type { CachedAnswer } from '../../admission/cache/answer-cache.ts'
import type { Ticket } from '../../admission/ticket.ts'
import type { Order } from '../../endpoints/endpoint.ts'
import type { Caller } from '../../callers/contract.ts'
import type { Reply } from '../../http/exchange.ts'
import type { Receipt } from '../../money/receipt.ts'
import { Work } from '../../providers/work.ts'
import { usageOf } from '../../wire/usage.ts'
import type { Assembly } from '../assembly/assemble.ts'
import { endsStored } from './ends-stored.ts'
import type { HandledRequest } from './handled-request.ts'
import { logged } from './log-content.ts'

/** The reply of an equal request, settled by what the cache charges. */
export function serveCached(
  { observer, alerts, services, content }: Assembly,
  endpoint: string,
  { id, exchange, startedAt, elapsedMs, watch, entry }: HandledRequest,
  { caller, order }: { readonly caller: Caller; readonly order: Order<unknown> },
  ticket: Ticket | undefined,
  { reply, used, charge }: CachedAnswer,
): Reply | Promise<Reply> {
  const { account, group, key } = caller
  const attribution = services.attribute(exchange, caller, order.field)
  const kept = content && logged(content, { id, endpoint, model: { id: order.model }, caller, attribution }, order)
  const receipt: Receipt = {
    usage: usageOf(0, 0),
    usageSource: 'reported',
    ...used,
    ...attribution,
    id,
    endpoint,
    outcome: 'completed',
    account,
    group,
    ...(key !== undefined && { key }),
    model: order.model,
    attempts: 0,
    stream: order.stream,
    cached: charge,
    startedAt,
    totalMs: elapsedMs(),
  }
  const closed = ticket === undefined ? receipt : ticket.close(receipt, new Work())
  if (ticket === undefined) entry?.leave()
  watch?.received(closed, ticket?.costs)
  observer.receipt(closed, ticket?.costs)
  alerts?.start()
  watch?.ended({ outcome: 'completed', status: reply.status })
  kept?.received(closed)
  const answered = kept?.answered(reply) ?? reply
  return ticket?.stored === undefined ? answered : endsStored(answered, ticket.stored)
}
