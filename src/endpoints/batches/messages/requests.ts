/** The requests of a batch: each is read, checked and sized as if it were sent alone. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Demand } from '../../../admission/demand.ts'
import { invalid, refusedValue } from '../../../errors.ts'
import { inBatches } from '../../../models/batch-model.ts'
import type { Deployment, Model } from '../../../models/contract.ts'
import { isRecord } from '../../../wire/json.ts'
import type { MessageRequest } from '../../../wire/messages.ts'
import type { Order, Query } from '../../endpoint.ts'
import { fittedOrder } from '../../fitted-order.ts'
import { messages } from '../../messages/messages.ts'
import { nativeCall } from '../../messages/native.ts'
import { checkLong } from '../../messages/request.ts'
import { callAlone, exchangeAlone, located } from '../alone.ts'
import type { BatchLine, BatchModel, BatchTask } from '../batch-task.ts'

/** A request as the client sent it. */
export interface GivenRequest {
  readonly custom_id: string
  readonly params: object
}

/** Requests that can be submitted, and what each draws. */
export interface ReadyBatch extends Pick<BatchTask, 'provider' | 'models' | 'clientHeaders'> {
  readonly lines: readonly BatchLine[]
  readonly params: readonly string[]
  readonly demands: readonly Demand[]
}

/** What a request draws, by its `custom_id`. */
type DemandOf = (line: string, order: Order<MessageRequest>, model: Model) => Demand

/** Requests that are read in one turn of the event loop. */
const perTurn = 50

/** Throws and rejects as the first request would that is at fault, with its place in the batch. */
export async function readyBatch(
  query: Query,
  given: readonly GivenRequest[],
  demandOf: DemandOf,
): Promise<ReadyBatch> {
  const { caller, catalogue, sizes, services } = query
  const found = new Map<string, Model>()
  const reading = { caller, services, now: Date.now }
  const orders = await eachOf(given, async ({ params }): Promise<Order<MessageRequest>> => {
    const exchange = exchangeAlone(query, '/v1/messages', { state: 'parsed', value: params })
    const order = await messages.read(exchange, sizes, reading)
    if (order.stream) throw refusedValue('The requests of a batch cannot be streamed. Omit "stream".', 'stream')
    if (found.has(order.model)) return order
    const model = inBatches(await catalogue.findForTask(order.model, caller))
    // The vendor must not get what inspectors have not seen.
    const isInspected = services.inspect?.(query.id, messages.name, model, caller) !== undefined
    if (isInspected || model.deployments.length === 0) {
      throw refusedValue(`The model "${order.model.slice(0, 128)}" is not available in batches.`, 'model')
    }
    found.set(order.model, model)
    return order
  })
  const provider = providerOf(query, [...found.values()])
  const models = [...found].map(([name, model]) => servedBy(name, model, provider))
  const numbers = new Map(models.map(({ name }, index) => [name, index]))
  let clientHeaders: BatchTask['clientHeaders']
  const made = await eachOf(orders, async (read, index) => {
    const m = numbers.get(read.model) as number
    const { model, deployment } = models[m] as Served
    const order = fittedOrder(messages, read, model)
    const call = callAlone(messages.name, { id: query.id, order, model, caller }, deployment, { sent() {} })
    checkLong(call)
    const native = nativeCall(call, { meter: { omit() {} }, model })
    clientHeaders = native.clientHeaders
    const { custom_id: id } = given[index] as GivenRequest
    const demand = demandOf(id, order, model)
    const { hold, bounds } = demand
    const line = { id, m, ...(hold && { held: String(hold.amount) }), out: bounds.length }
    return { line, demand, params: Buffer.from(native.json({ model: deployment.model })).toString('utf8') }
  })
  return {
    provider,
    models: models.map(({ name, model, deployment }): BatchModel => ({
      name,
      id: model.id,
      providerModel: deployment.model,
    })),
    lines: made.map(({ line }) => line),
    demands: made.map(({ demand }) => demand),
    params: made.map(({ params }) => params),
    ...(clientHeaders && { clientHeaders }),
  }
}

interface Served {
  readonly name: string
  /** With that deployment alone. */
  readonly model: Model
  readonly deployment: Deployment
}

/** The vendor that has batches of all models: the first of those that the first model prefers. */
function providerOf({ services }: Query, models: readonly Model[]): string {
  const [first, ...others] = models
  if (first === undefined) throw invalid('"requests" must have at least one request.', 'requests')
  const names = services.usable(first).map(({ provider }) => provider.name)
  const common = names.find((name) =>
    others.every((model) => model.deployments.some((each) => each.provider.name === name)),
  )
  if (common !== undefined) return common
  const listed = models.map(({ id }) => `"${id}"`).join(', ')
  throw refusedValue(
    `No vendor has batches of all these models: ${listed.slice(0, 500)}. Send a batch for each vendor.`,
    'requests',
  )
}

function servedBy(name: string, model: Model, provider: string): Served {
  const deployment = model.deployments.find((each) => each.provider.name === provider) as Deployment
  return { name, model: { ...model, deployments: [deployment] }, deployment }
}

async function eachOf<Item, Result>(
  items: readonly Item[],
  make: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const made: Result[] = []
  for (const [index, item] of items.entries()) {
    try {
      made.push(await make(item, index))
    } catch (error) {
      const place = `requests[${index}].params`
      throw located(error, place, (param) => (param === null ? place : `${place}.${param}`))
    }
    if (index % perTurn === perTurn - 1) await nextTurn()
  }
  return made
}

/** The requests in the body of a batch. Throws 400. */
export function givenRequests(value: unknown): readonly GivenRequest[] {
  if (!Array.isArray(value) || value.length === 0) throw invalid('"requests" must be a list of requests.', 'requests')
  const ids = new Set<string>()
  for (const [index, each] of value.entries()) {
    const place = `requests[${index}]`
    const { custom_id: id, params } = isRecord(each) ? each : {}
    if (typeof id !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(id)) {
      throw invalid(`"${place}.custom_id" must be 1 to 64 letters, digits, "_" or "-".`, `${place}.custom_id`)
    }
    if (ids.has(id)) throw invalid(`"${place}.custom_id" must be unique within the batch.`, `${place}.custom_id`)
    ids.add(id)
    if (!isRecord(params)) throw invalid(`"${place}.params" must be the request for a message.`, `${place}.params`)
  }
  return value as readonly GivenRequest[]
}
