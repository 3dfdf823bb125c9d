/** The requests of a batch, each read and asked as if it were sent alone. */
import { GatewayError } from '../../errors.ts'
import { Canceller } from '../../http/cancellation.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Deployment } from '../../models/contract.ts'
import type { Call } from '../../providers/contract.ts'
import type { Admitted } from '../admitted.ts'
import type { Query } from '../endpoint.ts'
import { isPassing } from '../../tasks/services.ts'
import { callOf } from '../fitted-call.ts'

/** The exchange of a request. */
export function exchangeAlone({ exchange }: Query, target: string, body: Exchange['body']): Exchange {
  const { headers, base, signal, cancellation, ip, host } = exchange
  return { method: 'POST', target, headers, body, base, signal, cancellation, ip, host }
}

/** The call of a request, which nothing cancels. */
export function callAlone<R>(
  endpoint: string,
  request: Pick<Admitted<R>, 'id' | 'order' | 'model' | 'caller'>,
  deployment: Deployment,
  meter: Parameters<typeof callOf>[3]['meter'],
): Call<R> {
  const head = { cancellation: new Canceller(), answered: undefined, headers: undefined, meter }
  return callOf(endpoint, { ...request, conversation: undefined }, deployment, head)
}

/** The refusal of a request with its place in the batch. */
export function located(thrown: unknown, place: string, paramOf: (param: string | null) => string | null): unknown {
  if (!GatewayError.is(thrown) || isPassing(thrown)) return thrown
  const { code, message, shouldRetry } = thrown
  const param = paramOf(thrown.param) ?? undefined
  return new GatewayError(code, { message: `${place}: ${message}`, param, shouldRetry })
}
