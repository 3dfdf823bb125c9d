/** The gateway: puts the parts together, and walks one request through the rooms. */
import { randomUUID } from 'node:crypto'
import { Admin } from './admin/admin.ts'
import type { Admission } from './admission/admission.ts'
import { createAdmission } from './admission/create.ts'
import type { Ticket } from './admission/ticket.ts'
import { Doorkeeper } from './auth/authenticate.ts'
import type { Caller } from './auth/contract.ts'
import type { Receipt } from './billing/receipt.ts'
import type { CallEndpoint, Parts, QueryEndpoint } from './endpoints/endpoint.ts'
import { findRoute, isCall, methodOf } from './endpoints/routes.ts'
import { Serving } from './endpoints/serving.ts'
import { closeAll, closeMs, closingError, type Closing } from './close.ts'
import { GatewayError } from './errors.ts'
import { refuse } from './http/answers.ts'
import type { Exchange, Reply } from './http/exchange.ts'
import { Heartbeat } from './http/heartbeat.ts'
import type { OpenForm } from './http/form.ts'
import { OpenCalls } from './http/open-calls.ts'
import { defaultSizes, type Sizes } from './http/sizes.ts'
import { isBelowV1 } from './http/target.ts'
import { Attempt } from './idempotency/attempt.ts'
import { createIdempotency } from './idempotency/create.ts'
import type { Idempotency } from './idempotency/idempotency.ts'
import { isKeyed } from './idempotency/key.ts'
import { Catalogue } from './models/access.ts'
import type { Model } from './models/contract.ts'
import { providersOf, staticRegistry } from './models/registry.ts'
import { guardedResponses } from './responses/guarded.ts'
import { publishFailure, publishReceipt } from './observe.ts'
import { checkOptions } from './options-check.ts'
import { isRegistry, type GatewayOptions } from './options.ts'
import { Breaker } from './routing/breaker.ts'
import { assemble } from './storage/assemble.ts'
import { Guard } from './storage/guard.ts'
import { videoTasks } from './tasks/build.ts'

export interface CloseOptions {
  /** Milliseconds for which calls under way may go on; then streams end with an error event. Default 10,000. */
  readonly graceMs?: number
}

/** A request whose caller is known. */
interface Incoming {
  readonly id: string
  readonly exchange: Exchange
  readonly caller: Caller
  /** Milliseconds since the epoch. */
  readonly startedAt: number
}

/** Checks the options, throws a `TypeError` that names a mistake, and starts nothing. */
export function createGateway(options: GatewayOptions): Gateway {
  checkOptions(options)
  return new Gateway(options)
}

export class Gateway {
  /** Accounts, keys, usage and models, for the host's own pages. */
  readonly admin: Admin
  readonly #options: GatewayOptions
  readonly #now: () => number
  readonly #sizes: Sizes
  readonly #door: Doorkeeper
  readonly #catalogue: Catalogue
  readonly #parts: Parts
  readonly #serving: Serving
  readonly #calls: OpenCalls
  readonly #admission: Admission
  readonly #idempotency: Idempotency | undefined
  readonly #owned: readonly Closing[]
  #closing: Promise<void> | undefined

  /** Use `createGateway`, which checks the options first. */
  constructor(options: GatewayOptions) {
    const { models, groups = { default: { models: '*' } }, clock = Date.now } = options
    this.#options = options
    this.#now = clock
    this.#sizes = { ...defaultSizes, ...options.sizes }
    const random = options.random ?? Math.random
    this.#serving = new Serving({
      retry: options.retry ?? {},
      timeouts: options.timeouts ?? {},
      breaker: new Breaker(options.breaker ?? {}, options.clock ?? (() => performance.now())),
      heartbeat: new Heartbeat(options.timeouts?.keepAliveMs ?? 15_000),
      now: clock,
      random,
    })

    this.#calls = new OpenCalls(options.billing?.drains)
    const stores = assemble(options, clock)
    this.#admission = createAdmission(options, stores, groups)
    this.#idempotency = createIdempotency(options)
    const { authenticate, keyCache: cache, timeouts } = options
    this.#door = new Doorkeeper({ store: stores.keys, authenticate, cache, timeoutMs: timeouts?.authMs, now: clock })

    const { billing } = options
    const priced = billing !== undefined && billing.unpriced !== 'free'
    const registry = isRegistry(models) ? models : staticRegistry(models, { now: clock, priced })
    this.#catalogue = new Catalogue(registry, groups)

    const guard = (name: string) =>
      new Guard({ name, timeoutMs: timeouts?.storeMs ?? 2_000, now: () => performance.now() })
    this.admin = new Admin({
      ...stores,
      catalogue: this.#catalogue,
      groups: Object.keys(groups),
      guard,
      minimumTopUp: options.billing?.minimumTopUp ?? '1',
      now: clock,
    })
    const { publicUrl = '' } = options
    this.#parts = {
      responses: guardedResponses(stores.responses, guard('the store of responses')),
      videos: videoTasks({
        options,
        catalogue: this.#catalogue,
        admission: this.#admission,
        ledger: stores.ledger,
        clock,
        random,
      }),
      publicUrl: publicUrl.replace(/\/*(?:\/v1)?\/*$/, ''),
      stallMs: timeouts?.stallMs ?? 60_000,
    }

    const providers = isRegistry(models) ? [] : providersOf(models)
    const owned = [this.#door, this.#idempotency, ...Object.values(stores), registry, ...providers]
    this.#owned = owned.filter((part) => part !== undefined)
  }

  /** Whether a request target is the gateway's to answer; everything else belongs to the host. */
  serves(target: string): boolean {
    return isBelowV1(target)
  }

  /** Answers one request. Never rejects: whatever goes wrong is a reply. */
  async handle(exchange: Exchange): Promise<Reply> {
    const id = `req_${randomUUID().replaceAll('-', '')}`
    let reply: Reply
    this.#calls.enter()
    try {
      reply = await this.#walk(exchange, id)
    } catch (thrown) {
      reply = refuse(thrown)
      if (reply.status >= 500) publishFailure({ id, error: thrown })
    } finally {
      this.#calls.leave()
    }
    return { ...reply, headers: { ...reply.headers, 'x-request-id': id } }
  }

  /** The walk of a request, one room a line. */
  async #walk(exchange: Exchange, id: string): Promise<Reply> {
    const startedAt = this.#now()
    if (this.#closing !== undefined) throw closingError()
    const route = findRoute(exchange.target)
    if (route === undefined) throw new GatewayError('unknown_url')
    const caller = await this.#door.authenticate(exchange)
    const endpoint = methodOf(route.methods, exchange.method)
    const request = { id, exchange, caller, startedAt }
    return isCall(endpoint) ? this.#admit(endpoint, request) : this.#answer(endpoint, request, route.rest)
  }

  /** What the gateway itself knows, or begins. */
  async #answer(endpoint: QueryEndpoint, { id, exchange, caller }: Incoming, rest: string): Promise<Reply> {
    const entry = endpoint.limited === true ? this.#admission.enter(id, caller) : undefined
    let ticket: Ticket | undefined
    const admit = async (model: Model) => {
      ticket = await entry?.admit(endpoint.name, undefined, model)
    }
    try {
      const [catalogue, sizes, parts] = [this.#catalogue, this.#sizes, this.#parts]
      const reply = await endpoint.answer({ exchange, caller, rest, catalogue, sizes, parts, admit })
      return { ...reply, headers: { ...reply.headers, ...ticket?.headers } }
    } finally {
      ticket?.giveBack()
      entry?.leave()
    }
  }

  /** From the limits to the hold: whoever leaves this room has paid, or is refused and owes nothing. */
  async #admit<R, A>(endpoint: CallEndpoint<R, A>, request: Incoming): Promise<Reply> {
    const { id, exchange, caller, startedAt } = request
    const entry = this.#admission.enter(id, caller)
    let form: OpenForm | undefined
    let attempt: Attempt | undefined
    try {
      const order = await endpoint.read(exchange, this.#sizes, { caller, parts: this.#parts, now: this.#now })
      form = order.form
      const begun = isKeyed(exchange) ? await this.#idempotency?.begin(endpoint.name, request, order) : undefined
      if (begun instanceof Attempt) attempt = begun
      else if (begun !== undefined) return (entry?.leave(), form?.dispose(), begun)
      const model = await this.#catalogue.find(order.model, caller)
      if (endpoint.fit !== undefined) await endpoint.fit(order, model)
      const ticket = entry && (await entry.admit(endpoint.name, order, model))
      const deliver = (receipt: Receipt) => this.#deliver(ticket === undefined ? receipt : ticket.close(receipt))
      const call = this.#calls.open(exchange.signal, this.#admission.drainMs(model))
      const cap = ticket?.demand.cap
      const served = await this.#serving.serve(endpoint, { id, caller, order, model, startedAt, cap, deliver }, call)
      const reply = attempt === undefined ? served : await attempt.keep(served)
      return ticket?.headers === undefined ? reply : { ...reply, headers: { ...reply.headers, ...ticket.headers } }
    } catch (thrown) {
      entry?.leave()
      form?.dispose()
      await attempt?.fail(thrown)
      throw thrown
    }
  }

  #deliver(receipt: Receipt): void {
    publishReceipt(receipt, this.#options.hooks?.receipt)
  }

  /**
   * Ends the gateway: new calls get 503 with `retry-after`, calls under way may finish within the grace, then streams
   * end with an error event; at last stores and providers give back what they hold. Further calls do no harm.
   */
  close({ graceMs = 10_000 }: CloseOptions = {}): Promise<void> {
    return (this.#closing ??= this.#drain(graceMs))
  }

  async #drain(graceMs: number): Promise<void> {
    await this.#calls.emptied(graceMs)
    this.#calls.cut(closingError())
    // The last bytes are still on their way through the host's streams: a server closed before they left waits for its
    // keep-alive time.
    await new Promise((resolve) => setImmediate(resolve))
    // What tasks still come to must be told before the ledger is: they end first.
    await closeAll([this.#parts.videos])
    await this.#admission.close(Math.min(closeMs, graceMs + 1_000))
    await closeAll(this.#owned)
    await closeAll([this.#options.storage ?? {}])
  }
}
