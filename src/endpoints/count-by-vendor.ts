/** Counting the tokens of a request by the vendors of its model. */
import { GatewayError } from '../errors.ts'
import { cancellationOf, Canceller } from '../http/cancellation.ts'
import { fitCosts } from '../models/cost-guard.ts'
import type { Model } from '../models/contract.ts'
import type { Call, Provider } from '../providers/contract.ts'
import type { ProviderError } from '../providers/failure.ts'
import type { Order, Query } from './endpoint.ts'
import { amendOrder, callFor } from './order.ts'

/** Milliseconds that vendors have to count; then the gateway estimates. */
const patienceMs = 10_000

/** Counts by one provider. `order`: that of the call, as the vendor would get it. Undefined if the vendor cannot count. */
export type CountBy<Request, Read extends Order<Request>> = (
  provider: Provider,
  call: Call<Request>,
  order: Read,
) => Promise<number | undefined>

/**
 * The count of the first vendor of the model that has one; undefined if none counts in time, or if requests are inspected. Rejects if the request is one
 * that a vendor calls invalid, or would not get from the endpoint that is named `endpoint`.
 */
export async function countByVendor<Request, Read extends Order<Request>>(
  endpoint: string,
  order: Read,
  model: Model,
  query: Query,
  countBy: CountBy<Request, Read>,
): Promise<number | undefined> {
  const { services, caller } = query
  // The vendor must not get what inspectors have not seen.
  if (services.inspect?.(query.id, endpoint, model, caller) !== undefined) return undefined
  const canceller = new Canceller()
  const timer = setTimeout(() => canceller.abort(new Error('the vendors took too long to count')), patienceMs).unref()
  const client = cancellationOf(query.exchange)
  const left = { handleEvent: () => canceller.abort(new GatewayError('client_closed')) }
  client.addEventListener('abort', left)
  try {
    return await firstCount(fitted(endpoint, order, model), model, canceller, query, countBy)
  } finally {
    clearTimeout(timer)
    client.removeEventListener('abort', left)
  }
}

/** The request as the vendor would get it to answer; throws 400 for what it would not get. */
function fitted<Request, Read extends Order<Request>>(endpoint: string, order: Read, model: Model): Read {
  const changes = fitCosts(endpoint, order, model)
  if (changes === undefined) return order
  // What the host sets concerns answers.
  const removed = Object.entries(changes).filter(([name]) => !Object.hasOwn(model.set ?? {}, name))
  return amendOrder(order, Object.fromEntries(removed))
}

async function firstCount<Request, Read extends Order<Request>>(
  order: Read,
  model: Model,
  cancellation: Canceller,
  { id, caller, services }: Query,
  countBy: CountBy<Request, Read>,
): Promise<number | undefined> {
  const { maxOutputTokens } = model
  for (const { provider, model: named, open = false } of services.usable(model)) {
    const head = {
      id,
      cancellation,
      model: named,
      openModel: open,
      maxOutputTokens,
      sent: undefined,
      headers: undefined,
      account: caller.account,
    }
    try {
      const tokens = await countBy(provider, callFor(order, head), order)
      if (tokens !== undefined) return tokens
    } catch (error) {
      if (isInvalid(error) && !cancellation.aborted) throw error
    }
    if (cancellation.aborted) return undefined
  }
  return undefined
}

/** Whether an error says that the request itself is invalid: then an answer would fail like the count. */
function isInvalid(error: unknown): boolean {
  if (!GatewayError.is(error) || error.status >= 500) return false
  return ((error as Partial<ProviderError>).retry ?? 'never') === 'never'
}
