import type { Ticket } from '../../admission/ticket.ts'
import type { Assembly } from '../assembly/assemble.ts'
import type { CallEndpoint } from '../../endpoints/endpoint.ts'
import type { Admitted } from '../../endpoints/admitted.ts'
import { cancellationOf, type Cancellation } from '../../http/cancellation.ts'
import type { Exchange, Reply } from '../../http/exchange.ts'
import { namedConversation, promptCacheKeyOf, wantsAffinity } from '../../routing/affinity.ts'
import type { Model } from '../../models/contract.ts'
import { Work } from '../../providers/work.ts'
import type { HandledRequest } from './handled-request.ts'
import { endsStored } from './ends-stored.ts'
import { logged, noted, replied } from './log-content.ts'

/** The request of a call. `client`: what cancels it, if not the disconnection of its client. */
interface ServedRequest extends Pick<
  HandledRequest,
  'id' | 'exchange' | 'keyed' | 'startedAt' | 'elapsedMs' | 'watch'
> {
  readonly client?: Cancellation
}

/** Calls the providers, and settles when the response has ended. */
export function serve<R, A>(
  { admission, affinity, alerts, authenticator, calls, content, observer, services, refused, serving }: Assembly,
  endpoint: CallEndpoint<R, A>,
  { id, exchange, keyed, startedAt, elapsedMs, watch, client = cancellationOf(exchange) }: ServedRequest,
  { caller, order, model }: Pick<Admitted<R>, 'caller' | 'order' | 'model'>,
  ticket: Ticket | undefined,
): Promise<Reply> {
  refused?.use()
  const work = new Work()
  const drainMs = admission.drainMs(model, ticket?.demand)
  const resumeMs = keyed !== undefined && order.stream ? keyed.resumeMs : 0
  const call = calls.open(client, Math.max(drainMs, resumeMs))
  keyed?.serves(call)
  const unfollow = authenticator.follow(caller, (reason) => call.abort(reason))
  const attribution = services.attribute(exchange, caller, order.field)
  const ended = admission.endsStored && ticket !== undefined ? Promise.withResolvers<void>() : undefined
  const kept = content && logged(content, { id, endpoint: endpoint.name, model, caller, attribution }, order)
  const deliver: Admitted<R>['deliver'] = (receipt, lost, vendorDollars) => {
    unfollow?.()
    const closed = ticket === undefined ? receipt : ticket.close(receipt, work, lost, vendorDollars)
    ended?.resolve(ticket?.stored)
    watch?.received(closed, ticket?.costs)
    keyed?.receives(closed)
    kept?.received(closed)
    observer.receipt(closed, ticket?.costs)
    alerts?.start()
  }
  const conversation = affinity
    ? conversationIn(endpoint, exchange, attribution.session, { caller, order, model })
    : undefined
  const admitted = {
    id,
    caller,
    attribution,
    conversation,
    order: noted(kept, order),
    model,
    cap: ticket?.demand.cap,
    hidden: ticket?.demand.hidden,
    inspection: services.inspect?.(id, endpoint.name, model, caller),
    work,
    deliver,
    watch,
    logsAttempts: admission.records !== undefined,
    startedAt,
    elapsedMs,
  }
  const served = serving.serve(endpoint, admitted, call)
  const reply = ended === undefined ? served : endsStored(served, ended.promise)
  return kept === undefined ? reply : replied(kept, reply)
}

/** A function of its own: a closure beside those that last as long as the response would keep the request. */
function conversationIn<R, A>(
  endpoint: CallEndpoint<R, A>,
  exchange: Exchange,
  session: string | undefined,
  { caller, order, model }: Pick<Admitted<R>, 'caller' | 'order' | 'model'>,
): Admitted<R>['conversation'] {
  const need = needOf(model)
  if (need === undefined || !wantsAffinity(exchange)) return undefined
  const named = namedConversation({ exchange, field: order.field, session })
  const name = named ?? (need === 'any' ? endpoint.beginning?.(order) : undefined)
  if (name === undefined) return undefined
  const id = `${caller.account}\0${model.id}\0${name}`
  return { id, promptCacheKey: named === undefined ? undefined : promptCacheKeyOf(id) }
}

/** Which conversations matter to the model: `named` ones, which the client names; undefined: none. */
function needOf({ deployments }: Model): 'any' | 'named' | undefined {
  if (deployments.length > 1) return 'any'
  const uses = deployments[0]?.provider.usesConversation
  return uses === 'named' ? 'named' : uses === true ? 'any' : undefined
}
