/** The gateway: the steps of a request, and the shutdown. */
import { randomUUID } from 'node:crypto'
import type { Admin } from './admin/admin.ts'
import type { Entry } from './admission/entry.ts'
import type { Ticket } from './admission/ticket.ts'
import { assemble, type Assembly } from './assembly/assemble.ts'
import { closeAll, closeMs, closingError } from './assembly/close.ts'
import { requireReady } from './assembly/ready.ts'
import type { Caller } from './auth/contract.ts'
import type { Receipt } from './billing/receipt.ts'
import { addressOf } from './endpoints/aliases.ts'
import type { CallEndpoint, Order, QueryEndpoint } from './endpoints/endpoint.ts'
import { amendOrder } from './endpoints/order.ts'
import { isCall, methodOf, routeOf } from './endpoints/routes.ts'
import { refuse } from './http/answers.ts'
import { redirected, type Exchange, type Reply } from './http/exchange.ts'
import type { OpenForm } from './http/form.ts'
import { isKeyed } from './http/idempotency-key.ts'
import { isBelowV1 } from './http/target.ts'
import { Attempt } from './idempotency/attempt.ts'
import type { Model } from './models/contract.ts'
import { fitCosts } from './models/cost-guard.ts'
import { requireNode } from './node-version.ts'
import { checkOptions } from './options/check.ts'
import type { GatewayOptions } from './options/options.ts'
import { Work } from './routing/work.ts'

/** Options of `gateway.close`. */
export interface CloseOptions {
  /** Milliseconds that requests in progress have to finish; then streams end with an error event. Default 10,000. */
  readonly graceMs?: number
  /**
   * Milliseconds that the ledger has to settle finished requests, however short `graceMs` is. Default 10,000. What is
   * not settled by then stays held for a day and is published to `modelhatch:failure` as `unsettled`.
   */
  readonly settleMs?: number
}

/** A request whose caller is authenticated. */
interface Incoming {
  readonly id: string
  readonly exchange: Exchange
  readonly caller: Caller
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds since `startedAt`, by a monotonic clock. */
  readonly elapsedMs: () => number
}

/** A request that was validated against its model and admitted. */
interface Admitted<R> {
  readonly order: Order<R>
  readonly model: Model
  readonly ticket: Ticket | undefined
}

/** Creates a gateway. Throws a `TypeError` that names the invalid option; starts no timer and no connection. */
export function createGateway(options: GatewayOptions): Gateway {
  requireNode(process.versions.node)
  checkOptions(options)
  return new Gateway(options)
}

/** A gateway, made by `createGateway`: answers requests, and offers `admin` to the host. */
export class Gateway {
  /** Accounts, keys, usage and models, for the host's own pages. */
  readonly admin: Admin
  readonly #options: GatewayOptions
  readonly #assembly: Assembly
  #closing: Promise<void> | undefined

  /** Use `createGateway`, which checks the options first. */
  constructor(options: GatewayOptions) {
    this.#options = options
    this.#assembly = assemble(options)
    this.admin = this.#assembly.admin
  }

  /** Whether the gateway handles a request target; all others belong to the host. */
  serves(target: string): boolean {
    return isBelowV1(target) || (this.#options.azure === true && addressOf(target) !== undefined)
  }

  /** Calls every store once, with a timeout of 10 s each. Rejects with the reason as `cause`, such as missing rights. */
  ready(): Promise<void> {
    return requireReady(this.#options, this.#assembly.stores, 10_000)
  }

  /** Handles one request. Never rejects: every error becomes a reply. */
  async handle(exchange: Exchange): Promise<Reply> {
    const id = `req_${randomUUID().replaceAll('-', '')}`
    const { calls, observer } = this.#assembly
    let reply: Reply
    calls.enter()
    try {
      reply = await this.#dispatch(exchange, id)
    } catch (thrown) {
      reply = refuse(thrown)
      if (reply.status >= 500) observer.failure({ id, error: thrown })
    } finally {
      calls.leave()
    }
    return withHeaders(reply, { 'x-request-id': id })
  }

  /** Route, authenticate, then one of the two kinds of endpoint. */
  async #dispatch(exchange: Exchange, id: string): Promise<Reply> {
    const { now, ticks, authenticator } = this.#assembly
    const startedAt = now()
    const begun = ticks()
    const elapsedMs = () => ticks() - begun
    if (this.#closing !== undefined) throw closingError()
    const addressed = this.#addressed(exchange)
    const route = routeOf(addressed)
    const caller = await authenticator.authenticate(exchange)
    const endpoint = methodOf(route.methods, exchange)
    const request = { id, exchange: addressed, caller, startedAt, elapsedMs }
    return isCall(endpoint) ? this.#call(endpoint, request) : this.#query(endpoint, request, route.rest)
  }

  /** The request under the path that the routes know, with the model named by its own path or by the options. */
  #addressed(exchange: Exchange): Exchange {
    const { azure, defaultModel } = this.#options
    const address = azure === true ? addressOf(exchange.target) : undefined
    if (address === undefined && defaultModel === undefined) return exchange
    const { target = exchange.target, model } = address ?? {}
    return redirected(exchange, target, {
      fixed: model === undefined ? {} : { model },
      defaults: defaultModel === undefined ? {} : { model: defaultModel },
    })
  }

  /** A request that waits for no model, such as the model list or a video task. */
  async #query(endpoint: QueryEndpoint, { id, exchange, caller }: Incoming, rest: string): Promise<Reply> {
    const { admission, catalogue, sizes, parts } = this.#assembly
    const entry = endpoint.limited === true ? admission.enter(id, caller) : undefined
    let ticket: Ticket | undefined
    const admit = async (model: Model) => {
      ticket = await entry?.admit({}, undefined, model)
    }
    try {
      const reply = await endpoint.answer({ exchange, caller, rest, catalogue, sizes, parts, admit })
      return withHeaders(reply, ticket?.headers)
    } finally {
      ticket?.giveBack()
      entry?.leave()
    }
  }

  /** A request to a model: enter, read, claim the idempotency key, fit to the model, admit, serve, keep. */
  async #call<R, A>(endpoint: CallEndpoint<R, A>, request: Incoming): Promise<Reply> {
    const held = new HeldResources(this.#assembly.admission.enter(request.id, request.caller))
    try {
      const read = await this.#read(endpoint, request, held)
      const replay = isKeyed(request.exchange) ? await this.#claim(endpoint, request, read, held) : undefined
      if (replay !== undefined) return (held.release(), replay)
      const { order, model } = await this.#fit(endpoint, request, read)
      const ticket = held.entry && (await held.entry.admit(endpoint, order, model))
      const served = await this.#serve(endpoint, request, { order, model, ticket })
      const reply = held.attempt === undefined ? served : await held.attempt.keep(served)
      return withHeaders(reply, ticket?.headers)
    } catch (thrown) {
      await held.fail(thrown)
      throw thrown
    }
  }

  /** Reads and validates the body. */
  async #read<R, A>(
    endpoint: CallEndpoint<R, A>,
    { exchange, caller }: Incoming,
    held: HeldResources,
  ): Promise<Order<R>> {
    const { sizes, parts, now } = this.#assembly
    const read = await endpoint.read(exchange, sizes, { caller, parts, now })
    held.form = read.form
    return read
  }

  /** Claims the idempotency key; the reply of an earlier request with the same key, if there is one. */
  async #claim<R, A>(
    { name }: CallEndpoint<R, A>,
    request: Incoming,
    read: Order<R>,
    held: HeldResources,
  ): Promise<Reply | undefined> {
    const begun = await this.#assembly.idempotency?.begin(name, request, read)
    if (!(begun instanceof Attempt)) return begun
    held.attempt = begun
    return undefined
  }

  /** Finds the model, and checks and amends the request against it. */
  async #fit<R, A>(
    endpoint: CallEndpoint<R, A>,
    { caller }: Incoming,
    read: Order<R>,
  ): Promise<Pick<Admitted<R>, 'order' | 'model'>> {
    const model = await this.#assembly.catalogue.find(read.model, caller)
    const changes = fitCosts(endpoint.name, read, model)
    const order = changes === undefined ? read : amendOrder(read, changes)
    if (endpoint.fit !== undefined) await endpoint.fit(order, model)
    return { order, model }
  }

  /** Calls the providers, and settles when the response has ended. */
  #serve<R, A>(endpoint: CallEndpoint<R, A>, request: Incoming, { order, model, ticket }: Admitted<R>): Promise<Reply> {
    const { admission, authenticator, calls, observer, serving } = this.#assembly
    const { id, exchange, caller, startedAt, elapsedMs } = request
    const work = new Work()
    const call = calls.open(exchange.signal, admission.drainMs(model))
    const unfollow = authenticator.follow(caller, (reason) => call.cut(reason))
    const deliver = (receipt: Receipt) => {
      unfollow?.()
      observer.receipt(ticket === undefined ? receipt : ticket.close(receipt, work))
    }
    const cap = ticket?.demand.cap
    return serving.serve(endpoint, { id, caller, order, model, startedAt, elapsedMs, cap, work, deliver }, call)
  }

  /**
   * Shuts down: new requests get 503 with `retry-after`, requests in progress may finish within `graceMs`, then streams
   * end with an error event; at last stores and providers are closed. Further calls return the same promise.
   */
  close({ graceMs = 10_000, settleMs = 10_000 }: CloseOptions = {}): Promise<void> {
    return (this.#closing ??= this.#shutDown(graceMs, settleMs))
  }

  async #shutDown(graceMs: number, settleMs: number): Promise<void> {
    const { calls, parts, admission, owned } = this.#assembly
    await calls.emptied(graceMs)
    calls.cut(closingError())
    // The last bytes are still in the host's streams: a server that closed before they were sent would wait for its
    // keep-alive timeout.
    await new Promise((resolve) => setImmediate(resolve))
    // Video tasks settle their cost through the ledger, so they end before it.
    await closeAll([parts.videos])
    await admission.close(settleMs, Math.min(closeMs, graceMs + 1_000))
    await closeAll(owned)
    await closeAll([this.#options.storage ?? {}])
  }
}

/** What a request holds until its response has ended: a place in the limits, an uploaded form, an idempotency key. */
class HeldResources {
  readonly entry: Entry | undefined
  form: OpenForm | undefined
  attempt: Attempt | undefined

  constructor(entry: Entry | undefined) {
    this.entry = entry
  }

  /** For a request that ends without calling a model. */
  release(): void {
    this.entry?.leave()
    this.form?.dispose()
  }

  /** For a request that ends with an error, which may have to be kept under its idempotency key. */
  async fail(thrown: unknown): Promise<void> {
    this.release()
    await this.attempt?.fail(thrown)
  }
}

function withHeaders(reply: Reply, headers: Readonly<Record<string, string>> | undefined): Reply {
  return headers === undefined ? reply : { ...reply, headers: { ...reply.headers, ...headers } }
}
