/** The gateway: puts the parts together, and walks one request through the rooms. */
import { randomUUID } from 'node:crypto'
import { Admin } from './admin/admin.ts'
import type { Admission } from './admission/admission.ts'
import { createAdmission } from './assembly/admission.ts'
import type { Ticket } from './admission/ticket.ts'
import { Authenticator } from './auth/authenticate.ts'
import type { Caller } from './auth/contract.ts'
import type { Receipt } from './billing/receipt.ts'
import { addressOf } from './endpoints/aliases.ts'
import type { CallEndpoint, Parts, QueryEndpoint } from './endpoints/endpoint.ts'
import { amendOrder } from './endpoints/order.ts'
import { isCall, methodOf, routeOf } from './endpoints/routes.ts'
import { Serving } from './endpoints/serving.ts'
import { closeAll, closeMs, closingError, type Closing } from './assembly/close.ts'
import { refuse } from './http/answers.ts'
import { redirected, type Exchange, type Reply } from './http/exchange.ts'
import { Heartbeat } from './http/heartbeat.ts'
import type { OpenForm } from './http/form.ts'
import { OpenCalls } from './http/open-calls.ts'
import { defaultSizes, type Sizes } from './http/sizes.ts'
import { isBelowV1 } from './http/target.ts'
import { Attempt } from './idempotency/attempt.ts'
import { createIdempotency } from './assembly/idempotency.ts'
import type { Idempotency } from './idempotency/idempotency.ts'
import { isKeyed } from './http/idempotency-key.ts'
import { Catalogue } from './models/access.ts'
import type { Model } from './models/contract.ts'
import { fitCosts } from './models/cost-guard.ts'
import { providersOf, staticRegistry } from './models/registry.ts'
import { guardedResponses } from './assembly/responses.ts'
import { requireNode } from './node-version.ts'
import { publishFailure, publishReceipt } from './observe.ts'
import { checkOptions } from './options/check.ts'
import { isRegistry, type GatewayOptions } from './options/options.ts'
import { Breaker } from './routing/breaker.ts'
import { Work } from './routing/work.ts'
import { assemble, type Stores } from './assembly/stores.ts'
import { Guard } from './store-access/guard.ts'
import { requireReady } from './assembly/ready.ts'
import { videoTasks } from './assembly/video-tasks.ts'

export interface CloseOptions {
  /** Milliseconds for which calls under way may go on; then streams end with an error event. Default 10,000. */
  readonly graceMs?: number
  /**
   * Milliseconds for which the ledger is waited for to take what answered calls cost, however short the grace is. Default
   * 10,000. What it has not taken by then stays held for a day, and is told over `modelhatch:failure` as `unsettled`.
   */
  readonly settleMs?: number
}

/** A request whose caller is known. */
interface Incoming {
  readonly id: string
  readonly exchange: Exchange
  readonly caller: Caller
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds since then, by a clock that no change of the date moves. */
  readonly elapsedMs: () => number
}

/** Checks the options, throws a `TypeError` that names a mistake, and starts nothing. */
export function createGateway(options: GatewayOptions): Gateway {
  requireNode(process.versions.node)
  checkOptions(options)
  return new Gateway(options)
}

export class Gateway {
  /** Accounts, keys, usage and models, for the host's own pages. */
  readonly admin: Admin
  readonly #options: GatewayOptions
  readonly #now: () => number
  readonly #ticks: () => number
  readonly #sizes: Sizes
  readonly #authenticator: Authenticator
  readonly #catalogue: Catalogue
  readonly #parts: Parts
  readonly #serving: Serving
  readonly #calls: OpenCalls
  readonly #admission: Admission
  readonly #idempotency: Idempotency | undefined
  readonly #owned: readonly Closing[]
  readonly #stores: Stores
  #closing: Promise<void> | undefined

  /** Use `createGateway`, which checks the options first. */
  constructor(options: GatewayOptions) {
    const { models, groups = { default: { models: '*' } }, clock = Date.now } = options
    this.#options = options
    this.#now = clock
    this.#ticks = options.clock ?? (() => performance.now())
    this.#sizes = { ...defaultSizes, ...options.sizes }
    const random = options.random ?? Math.random
    this.#serving = new Serving({
      retry: options.retry ?? {},
      timeouts: options.timeouts ?? {},
      breaker: new Breaker(options.breaker ?? {}, options.clock ?? (() => performance.now())),
      heartbeat: new Heartbeat(options.timeouts?.keepAliveMs ?? 15_000),
      random,
    })

    this.#calls = new OpenCalls(options.billing?.maxDrains)
    const stores = (this.#stores = assemble(options, clock))
    this.#admission = createAdmission(options, stores, groups)
    this.#idempotency = createIdempotency(options)
    const { authenticate, keyCache: cache, timeouts, whenKeyEnds } = options
    const endsCalls = whenKeyEnds === 'end'
    this.#authenticator = new Authenticator({
      store: stores.keys,
      authenticate,
      endsCalls,
      cache,
      timeoutMs: timeouts?.authMs,
      now: clock,
    })

    const { billing } = options
    const priced = billing !== undefined && billing.unpriced !== 'free'
    const registry = isRegistry(models) ? models : staticRegistry(models, { now: clock, priced })
    this.#catalogue = new Catalogue(registry, groups)

    const guard = guarding(timeouts?.storeMs ?? 2_000)
    this.admin = new Admin({
      ...stores,
      catalogue: this.#catalogue,
      groups: Object.keys(groups),
      guard,
      pageGuard: guarding(timeouts?.pageMs ?? 30_000),
      minimumTopUp: options.billing?.minimumTopUp ?? '1',
      now: clock,
      forget: (hash) => this.#authenticator.forget(hash),
    })
    const { publicUrl = '' } = options
    this.#parts = {
      responses: guardedResponses(stores.responses, guard('the response store')),
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
    const owned = [this.#authenticator, this.#idempotency, ...Object.values(stores), registry, ...providers]
    this.#owned = owned.filter((part) => part !== undefined)
  }

  /** Whether a request target is the gateway's to answer; everything else belongs to the host. */
  serves(target: string): boolean {
    return isBelowV1(target) || (this.#options.azure === true && addressOf(target) !== undefined)
  }

  /** Asks every store once, each within 10 s. Rejects with what is wrong as `cause`: a wrong database, missing rights. */
  ready(): Promise<void> {
    return requireReady(this.#options, this.#stores, 10_000)
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

  /** The steps of a request, one a line. */
  async #walk(exchange: Exchange, id: string): Promise<Reply> {
    const startedAt = this.#now()
    const begun = this.#ticks()
    const elapsedMs = () => this.#ticks() - begun
    if (this.#closing !== undefined) throw closingError()
    const addressed = this.#addressed(exchange)
    const route = routeOf(addressed)
    const caller = await this.#authenticator.authenticate(exchange)
    const endpoint = methodOf(route.methods, exchange)
    const request = { id, exchange: addressed, caller, startedAt, elapsedMs }
    return isCall(endpoint) ? this.#admit(endpoint, request) : this.#answer(endpoint, request, route.rest)
  }

  /** The request under the path that the routes know, with the model that its own path or the options name. */
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

  /** What the gateway itself knows, or begins. */
  async #answer(endpoint: QueryEndpoint, { id, exchange, caller }: Incoming, rest: string): Promise<Reply> {
    const entry = endpoint.limited === true ? this.#admission.enter(id, caller) : undefined
    let ticket: Ticket | undefined
    const admit = async (model: Model) => {
      ticket = await entry?.admit({}, undefined, model)
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
    const { id, exchange, caller, startedAt, elapsedMs } = request
    const entry = this.#admission.enter(id, caller)
    let form: OpenForm | undefined
    let attempt: Attempt | undefined
    try {
      const read = await endpoint.read(exchange, this.#sizes, { caller, parts: this.#parts, now: this.#now })
      form = read.form
      const begun = isKeyed(exchange) ? await this.#idempotency?.begin(endpoint.name, request, read) : undefined
      if (begun instanceof Attempt) attempt = begun
      else if (begun !== undefined) return (entry?.leave(), form?.dispose(), begun)
      const model = await this.#catalogue.find(read.model, caller)
      const changes = fitCosts(endpoint.name, read, model)
      const order = changes === undefined ? read : amendOrder(read, changes)
      if (endpoint.fit !== undefined) await endpoint.fit(order, model)
      const ticket = entry && (await entry.admit(endpoint, order, model))
      const work = new Work()
      let unfollow: (() => void) | undefined
      const deliver = (receipt: Receipt) => {
        unfollow?.()
        this.#deliver(ticket === undefined ? receipt : ticket.close(receipt, work))
      }
      const call = this.#calls.open(exchange.signal, this.#admission.drainMs(model))
      unfollow = this.#authenticator.follow(caller, (reason) => call.cut(reason))
      const cap = ticket?.demand.cap
      const served = await this.#serving.serve(
        endpoint,
        { id, caller, order, model, startedAt, elapsedMs, cap, work, deliver },
        call,
      )
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
  close({ graceMs = 10_000, settleMs = 10_000 }: CloseOptions = {}): Promise<void> {
    return (this.#closing ??= this.#drain(graceMs, settleMs))
  }

  async #drain(graceMs: number, settleMs: number): Promise<void> {
    await this.#calls.emptied(graceMs)
    this.#calls.cut(closingError())
    // The last bytes are still on their way through the host's streams: a server closed before they left waits for its
    // keep-alive time.
    await new Promise((resolve) => setImmediate(resolve))
    // What tasks still come to must be told before the ledger is: they end first.
    await closeAll([this.#parts.videos])
    await this.#admission.close(settleMs, Math.min(closeMs, graceMs + 1_000))
    await closeAll(this.#owned)
    await closeAll([this.#options.storage ?? {}])
  }
}

/** Makes guards of stores that are waited for as long. */
function guarding(timeoutMs: number): (name: string) => Guard {
  return (name) => new Guard({ name, timeoutMs, now: () => performance.now() })
}
