import type { Caller } from '../../callers/contract.ts'
import type { Entry } from '../../admission/entry.ts'
import type { KeyedRequest } from '../../admission/idempotency/keyed-request.ts'
import type { Assembly } from '../assembly/assemble.ts'
import type { Endpoint, Order } from '../../endpoints/endpoint.ts'
import { refuse, type Dialect } from '../../http/answers.ts'
import type { Exchange, Reply } from '../../http/exchange.ts'
import { speaksGoogle } from '../../http/google-error.ts'
import { speaksAnthropic } from '../../http/message-error.ts'
import { requestId } from '../../http/request-id.ts'
import type { Model } from '../../models/contract.ts'
import { refusalOf, type CallWatch } from '../../observe/watch.ts'
import { repeatingId } from '../../observe/usage/record-ids.ts'
import { recordRefusal } from './record-refusal.ts'

/** One request on its way through the steps: what is known of it, what it holds, and how it ends. */
export class HandledRequest {
  readonly id: string = requestId()
  /** Read before any function of the host gets the request. */
  readonly #dialect: Dialect
  /** Under the path that the routes know. */
  readonly exchange: Exchange
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds since `startedAt`, by a monotonic clock. */
  readonly elapsedMs: () => number
  /** What it holds in the limits. */
  entry: Entry | undefined
  /** What it holds of its `Idempotency-Key`. */
  keyed: KeyedRequest | undefined
  /** Undefined if the request is not observed. */
  readonly watch: CallWatch | undefined
  readonly #assembly: Assembly
  #caller: Caller | undefined
  #endpoint: Endpoint | undefined
  #order: Order<unknown> | undefined
  #model: string | undefined
  #isServed = false
  /** The id in the response. */
  #shownId: string = this.id

  constructor(assembly: Assembly, received: Exchange, exchange: Exchange) {
    const { now, observer, routes, ticks } = assembly
    const begun = ticks()
    this.#assembly = assembly
    this.#dialect = dialectOf(received)
    this.exchange = exchange
    this.startedAt = now()
    this.elapsedMs = () => ticks() - begun
    if (!observer.watchesCalls) return
    const { id, startedAt, elapsedMs } = this
    this.watch = observer.arrived({ id, exchange: received, endpoint: routes.nameAt(exchange), startedAt, elapsedMs })
  }

  /** The request has a known caller and an endpoint. */
  isFor(endpoint: Endpoint, caller: Caller): void {
    this.#endpoint = endpoint
    this.#caller = caller
    if (this.watch !== undefined) this.watch.caller = caller
  }

  /** The body was read. */
  hasOrdered(order: Order<unknown>): void {
    this.#order = order
    if (this.watch !== undefined) this.watch.request = order
  }

  /** The model was found. */
  names(model: Model): void {
    this.#model = model.id
    if (this.watch !== undefined) this.watch.model = model
  }

  /** A provider is about to be called: from here on the request has a receipt. */
  isServed(): void {
    this.#isServed = true
  }

  /** The response tells of work that has, or will have, this usage record. */
  concerns(record: string): void {
    this.#isServed = true
    this.#shownId = repeatingId(record, this.id)
  }

  /** The reply of a request that ends without a call to a provider. A stored one has the id of the request that it repeats. */
  answered(reply: Reply): Reply {
    const first = reply.headers['x-request-id']
    if (first !== undefined) this.concerns(first)
    this.#release()
    this.watch?.ended({ outcome: 'completed', status: reply.status })
    return this.finished(reply)
  }

  finished(reply: Reply, more?: Readonly<Record<string, string>>): Reply {
    return finished(this.#shownId, this.#dialect === 'anthropic', reply, more)
  }

  /** The reply to a request that failed. Reports and records why. */
  async refused(thrown: unknown): Promise<Reply> {
    const { id, keyed } = this
    this.#release()
    const reply = refuse(thrown, this.#dialect, id)
    if (keyed !== undefined) await keyed.fail(thrown, reply)
    this.#record(thrown)
    this.watch?.ended(refusalOf(thrown))
    if (reply.status >= 500) this.#assembly.observer.failure({ id, error: thrown })
    return this.finished(reply)
  }

  /** For a request that ends without a response of a model. */
  #release(): void {
    this.entry?.leave()
    this.#order?.form?.dispose()
  }

  #record(thrown: unknown): void {
    const caller = this.#caller
    if (this.#isServed || caller === undefined) return
    const { id, exchange, startedAt, elapsedMs } = this
    const [endpoint, order, model] = [this.#endpoint, this.#order, this.#model]
    recordRefusal(this.#assembly, thrown, { id, exchange, caller, startedAt, elapsedMs, endpoint, order, model })
  }
}

function dialectOf(exchange: Exchange): Dialect {
  if (speaksGoogle(exchange)) return 'google'
  return speaksAnthropic(exchange) ? 'anthropic' : 'openai'
}

/** The reply with the id of the request; for a client of Anthropic's API also by the name that it knows. */
export function finished(
  id: string,
  forAnthropic: boolean,
  reply: Reply,
  more?: Readonly<Record<string, string>>,
): Reply {
  const { status, body } = reply
  const headers: Record<string, string> = { ...reply.headers, ...more, 'x-request-id': id }
  if (forAnthropic) headers['request-id'] = id
  return { status, headers, body }
}
