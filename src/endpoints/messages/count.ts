import { GatewayError } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { cancellationOf, Canceller } from '../../http/cancellation.ts'
import { fitCosts } from '../../models/cost-guard.ts'
import type { Deployment, Model } from '../../models/contract.ts'
import { makerOf } from '../envelope.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { ProviderError } from '../../providers/failure.ts'
import { forceParse } from '../../providers/turns.ts'
import type { MessageRequest } from '../../wire/messages.ts'
import type { Order, Query, QueryEndpoint } from '../endpoint.ts'
import { amend, amendOrder, callFor, overlaid, replaceLarge } from '../order.ts'
import { chatRequestOf } from './by-chat/request.ts'
import { responseRequestOf } from './by-responses/request.ts'
import { estimatedInput } from './estimate.ts'
import { withoutCosts } from './headers.ts'
import { readableHistory } from './history.ts'
import { thinkingMakerOf } from './thinking-maker.ts'
import { read } from './reading/reading.ts'
import { checkLong, readCounting } from './request.ts'

/** Milliseconds that vendors have to count; then the gateway estimates. */
const patienceMs = 10_000

/** `POST /v1/messages/count_tokens`: by the vendor if it counts, else an estimate. */
export const countMessageTokens: QueryEndpoint = {
  name: 'messages.count_tokens',
  limited: 'counts',
  async answer(query) {
    const { exchange, sizes, catalogue, caller, parts } = query
    const order = await readCounting(exchange, sizes)
    const model = await catalogue.find(order.model, caller)
    const canceller = new Canceller()
    const timer = setTimeout(() => canceller.abort(new Error('the vendors took too long to count')), patienceMs).unref()
    const client = cancellationOf(exchange)
    const left = { handleEvent: () => canceller.abort(new GatewayError('client_closed')) }
    client.addEventListener('abort', left)
    try {
      const counted = await countedBy(parts.usable(model), fitted(order, model), model, canceller, query)
      return jsonReply({ input_tokens: counted ?? estimatedInput(order) })
    } finally {
      clearTimeout(timer)
      client.removeEventListener('abort', left)
    }
  },
}

/** The request as the vendor would get it to answer; throws 400 for what it would not get. */
function fitted(order: Order<MessageRequest>, model: Model): Order<MessageRequest> {
  const changes = fitCosts('messages', order, model)
  if (changes === undefined) return order
  // What the host sets concerns answers.
  const removed = Object.entries(changes).filter(([name]) => !Object.hasOwn(model.set ?? {}, name))
  return amendOrder(order, Object.fromEntries(removed))
}

/** The count of the first vendor that has one. Throws only if a vendor rejects the request as invalid. */
async function countedBy(
  deployments: readonly Deployment[],
  order: Order<MessageRequest>,
  model: Model,
  cancellation: Canceller,
  { id }: Query,
): Promise<number | undefined> {
  const { maxOutputTokens } = model
  for (const { provider, model: named, open = false } of deployments) {
    const head = {
      id,
      cancellation,
      model: named,
      openModel: open,
      maxOutputTokens,
      sent: undefined,
      headers: undefined,
    }
    try {
      const tokens = await countBy(provider, callFor(order, head), model)
      if (tokens !== undefined) return tokens
    } catch (error) {
      if ((error as Partial<ProviderError>).retry === 'never') throw error
    }
    if (cancellation.aborted) return undefined
  }
  return undefined
}

async function countBy(provider: Provider, call: Call<MessageRequest>, model: Model): Promise<number | undefined> {
  const maker = makerOf(provider)
  if (provider.countMessage !== undefined) {
    const { clientHeaders } = call
    const own = amend(call, readableHistory(call, thinkingMakerOf(call.model)))
    return provider.countMessage(
      clientHeaders === undefined ? own : overlaid(own, { clientHeaders: withoutCosts(clientHeaders, model, ignore) }),
    )
  }
  if (provider.countChat === undefined && provider.countResponse === undefined) return undefined
  await forceParse(call)
  checkLong(call)
  const reading = read(typeof call.field('max_tokens') === 'number' ? call : amend(call, { max_tokens: enough }))
  const named = call.publicModel
  if (provider.countResponse !== undefined) {
    return provider.countResponse(replaceLarge(call, responseRequestOf(named, reading, maker)))
  }
  return provider.countChat?.(replaceLarge(call, chatRequestOf(named, reading, provider.chatTraits ?? {}, maker)))
}

/** More than any budget of thinking needs; it does not count. */
const enough = 1_000_000

function ignore(): void {}
