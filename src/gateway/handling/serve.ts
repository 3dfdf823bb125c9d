import type { Ticket } from '../../admission/ticket.ts'
import type { Assembly } from '../assembly/assemble.ts'
import type { Receipt } from '../../money/receipt.ts'
import type { CallEndpoint } from '../../endpoints/endpoint.ts'
import type { Admitted } from '../../endpoints/served.ts'
import { cancellationOf } from '../../http/cancellation.ts'
import type { Reply } from '../../http/exchange.ts'
import { Work } from '../../providers/work.ts'
import type { HandledRequest } from './handled-request.ts'

/** Calls the providers, and settles when the response has ended. */
export function serve<R, A>(
  { admission, authenticator, calls, observer, services, refused, serving }: Assembly,
  endpoint: CallEndpoint<R, A>,
  { id, exchange, startedAt, elapsedMs, watch }: HandledRequest,
  { caller, order, model }: Pick<Admitted<R>, 'caller' | 'order' | 'model'>,
  ticket: Ticket | undefined,
): Promise<Reply> {
  refused?.use()
  const work = new Work()
  const call = calls.open(cancellationOf(exchange), admission.drainMs(model, ticket?.demand))
  const unfollow = authenticator.follow(caller, (reason) => call.abort(reason))
  const deliver = (receipt: Receipt) => {
    unfollow?.()
    const closed = ticket === undefined ? receipt : ticket.close(receipt, work)
    if (watch !== undefined) watch.receipt = closed
    observer.receipt(closed)
  }
  const { cap, hidden } = ticket?.demand ?? {}
  const attribution = services.attribute(exchange, caller, order.field)
  const logsAttempts = admission.records !== undefined
  const times = { startedAt, elapsedMs }
  const admitted = { id, caller, attribution, order, model, cap, hidden, work, deliver, watch, logsAttempts, ...times }
  return serving.serve(endpoint, admitted, call)
}
