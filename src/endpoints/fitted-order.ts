import { withOmission } from '../admission/meter.ts'
import { fitCosts, omissionsIn, type Changes } from '../models/cost-guard.ts'
import type { Model } from '../models/contract.ts'
import type { CallEndpoint, Order } from './endpoint.ts'
import { amendOrder } from './order.ts'
import { requireReadable } from './readable.ts'

/** The order as the vendors of its model may get it. Throws a 400 for what changes the cost and is not allowed, or is too much. */
export function fittedOrder<R>(
  endpoint: Pick<CallEndpoint<R, never>, 'name' | 'makes' | 'lengthFields'>,
  read: Order<R>,
  model: Model,
): Order<R> {
  const changes = fitCosts(endpoint.name, read, model)
  const order = changes === undefined ? read : amended(read, changes)
  requireReadable(endpoint, order, model)
  return order
}

/** An order with changes, which names the parts of the request that they remove. */
function amended<R>(order: Order<R>, changes: Changes): Order<R> {
  const omitted = omissionsIn(changes, order).reduce(withOmission, order.omitted ?? [])
  return Object.assign(amendOrder(order, changes), omitted.length > 0 && { omitted })
}
