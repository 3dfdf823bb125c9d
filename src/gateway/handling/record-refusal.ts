import type { Caller } from '../../callers/contract.ts'
import type { Endpoint, EndpointServices, Order } from '../../endpoints/endpoint.ts'
import { isCall } from '../../endpoints/routes.ts'
import { GatewayError } from '../../errors.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Observer } from '../../observe/observe.ts'
import type { RefusedLog } from '../../observe/usage/refused-log.ts'

/** A request of a known caller that was rejected. */
interface Rejected {
  readonly id: string
  readonly exchange: Exchange
  readonly caller: Caller
  readonly startedAt: number
  readonly elapsedMs: () => number
  /** The id of the model, once it was found. */
  readonly model: string | undefined
  /** Undefined if its path does not support the method. */
  readonly endpoint: Endpoint | undefined
  /** Undefined if the body was not read. */
  readonly order: Pick<Order<unknown>, 'model' | 'stream' | 'field'> | undefined
}

/** Where rejected requests are recorded. */
interface RefusalSinks {
  readonly refused: RefusedLog | undefined
  readonly services: Pick<EndpointServices, 'attribute'>
  readonly observer: Observer
}

/** Records a request that was rejected before any attempt and so has no receipt, within the bounds of the log. Never throws. */
export function recordRefusal({ refused, services, observer }: RefusalSinks, thrown: unknown, request: Rejected): void {
  const { id, exchange, caller, startedAt, elapsedMs, model, endpoint, order } = request
  if (refused === undefined || endpoint === undefined) return
  const { code, status } = GatewayError.from(thrown)
  // A query that starts no work is no request to a model; one that fails later has a task with a receipt.
  const isLogged = isCall(endpoint) || (endpoint.limited === true && status < 500)
  if (!isLogged || code === 'client_closed' || !refused.admits(caller.account)) return
  try {
    refused.add({
      id,
      caller,
      attribution: services.attribute(exchange, caller, order?.field ?? noField),
      endpoint: endpoint.name,
      model: order?.model ?? model,
      stream: order?.stream === true,
      code,
      startedAt,
      totalMs: elapsedMs(),
    })
  } catch (error) {
    observer.failure({ id, error })
  }
}

function noField(): undefined {}
