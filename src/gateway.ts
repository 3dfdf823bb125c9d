/** The gateway: the steps of a request, and the shutdown. */
import type { Admin } from './admin/admin.ts'
import { assemble, type Assembly } from './gateway/assembly/assemble.ts'
import { healthOf, gatewayStateOf } from './gateway/assembly/health.ts'
import { closingError } from './gateway/assembly/close.ts'
import { requireReady } from './gateway/assembly/store-questions.ts'
import { shutDown, type CloseOptions } from './gateway/assembly/shut-down.ts'
import type { Caller } from './callers/contract.ts'
import { addressOf } from './endpoints/aliases.ts'
import type { Order } from './endpoints/endpoint.ts'
import { fittedOrder } from './endpoints/fitted-order.ts'
import { overlaid } from './endpoints/order.ts'
import { addressed } from './gateway/handling/addressed.ts'
import { isCall, methodOf } from './endpoints/routes.ts'
import { finished, HandledRequest } from './gateway/handling/handled-request.ts'
import { answerQuery } from './gateway/handling/query.ts'
import { replayed } from './gateway/handling/replay.ts'
import { serve } from './gateway/handling/serve.ts'
import { serveDetached } from './gateway/handling/detached.ts'
import { serveCached } from './gateway/handling/serve-cached.ts'
import { Connections } from './http/connections.ts'
import { refuse } from './http/answers.ts'
import type { Exchange, Reply } from './http/exchange.ts'
import type { Sizes } from './http/sizes.ts'
import { requestId } from './http/request-id.ts'
import { isKeyed } from './http/idempotency-key.ts'
import { isBelowV1 } from './http/target.ts'
import { CachedAnswer } from './admission/cache/answer-cache.ts'
import { KeyedRequest } from './admission/idempotency/keyed-request.ts'
import { requireNode } from './gateway/node-version.ts'
import type { GatewayHealth } from './observe/health.ts'
import { checkOptions } from './gateway/options/check.ts'
import type { GatewayOptions } from './gateway/options/options.ts'
import type { ConfigWarning } from './records/warning.ts'

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
  /** The open connections that carry several calls, such as WebSockets. Adapters add theirs. */
  readonly connections: Connections = new Connections()
  /** The size limits of requests, with the defaults filled in. */
  readonly sizes: Sizes
  /** Whether `close` was called: new requests get 503. */
  readonly isClosing: () => boolean = () => this.#closing !== undefined
  readonly #options: GatewayOptions
  readonly #assembly: Assembly
  #closing: Promise<void> | undefined
  #isDraining = false

  /** Use `createGateway`, which checks the options first. */
  constructor(options: GatewayOptions) {
    this.#options = options
    this.#assembly = assemble(options, (content, model) => replayed(this.#assembly, content, model))
    this.admin = this.#assembly.admin
    this.sizes = this.#assembly.sizes
    for (const warning of this.#assembly.warnings()) this.#assembly.observer.warning(warning)
    this.#assembly.observer.attach(() => gatewayStateOf(this.#assembly, this.#closing !== undefined))
  }

  /** Whether the gateway handles a request target; all others belong to the host. */
  serves(target: string): boolean {
    if (isBelowV1(target) || this.#assembly.routes.isElsewhere(target)) return true
    return this.#options.azure === true && addressOf(target) !== undefined
  }

  /**
   * The caller of a request, without handling it: for adapters that keep a connection open before the first call. Each call is
   * authenticated again. Rejects with a `GatewayError`: 401 for an unknown caller, 503 at shutdown or if a store fails.
   */
  async authenticate(exchange: Exchange): Promise<Caller> {
    if (this.#closing !== undefined) throw closingError()
    return this.#assembly.authenticator.authenticate(exchange)
  }

  /**
   * Calls every store once, with a timeout of 10 s each, and with `vendors` also the vendors of the models in the options: each
   * is asked for its list of models. Rejects with the reason as `cause`, such as missing rights, a wrong key or an unknown model.
   */
  ready({ vendors = false }: { readonly vendors?: boolean } = {}): Promise<void> {
    const { questions, vendorQuestions } = this.#assembly
    return requireReady(vendors ? [...questions, ...vendorQuestions] : questions, 10_000)
  }

  /**
   * The state of the gateway: whether it is ready, its stores, deployments, queues and open calls. The stores are asked at most
   * once in five seconds, or once a second while one is unreachable, however often this is called; each has
   * `timeouts.storeMs` to answer. Never rejects.
   */
  health(): Promise<GatewayHealth> {
    return healthOf(this.#assembly, this.isClosing, () => this.#isDraining)
  }

  /**
   * What is probably a mistake in the options, although it is valid: the logger of the options gets each once, at the start or when
   * a call shows it. And what has turned out since in this process: costs that vendors see otherwise, models that are about to end.
   */
  warnings(): readonly ConfigWarning[] {
    const { admission } = this.#assembly
    const warnings = this.#assembly.warnings()
    const shown = admission.userless.warnings.filter(
      ({ code, where }) => !warnings.some((each) => each.code === code && each.where === where),
    )
    return [...warnings, ...shown, ...admission.drift.warnings]
  }

  /**
   * From now on `health()` says that the process is draining, so that load balancers send new requests elsewhere. Requests are
   * served until `close`. `prepareShutdown` of `modelhatch/node` calls it first.
   */
  drain(): void {
    this.#isDraining = true
  }

  /**
   * Handles one request: route, authenticate, enter, read, find the model, claim the idempotency key, admit, serve, keep.
   * Never rejects: every error becomes a reply. Each `await` costs a promise, even of a value that is known already.
   */
  async handle(exchange: Exchange): Promise<Reply> {
    const { admission, authenticator, cache, calls, catalogue, idempotency, live, routes, services, sizes, now } =
      this.#assembly
    let request: HandledRequest | undefined
    calls.enter()
    try {
      request = new HandledRequest(this.#assembly, exchange, addressed(exchange, this.#options))
      const { id, startedAt } = request
      if (this.#closing !== undefined) throw closingError()
      const { methods, rest } = routes.of(request.exchange)
      const knowing = authenticator.authenticate(exchange)
      const caller = knowing instanceof Promise ? await knowing : knowing
      const reading = live?.readyFor(caller)
      if (reading !== undefined) await reading
      const endpoint = methodOf(methods, exchange)
      request.isFor(endpoint, caller)
      if (!isCall(endpoint)) {
        return request.finished(await answerQuery(this.#assembly, request, { endpoint, caller, rest }))
      }
      request.entry = admission.enter(id, caller)
      const bodied = endpoint.read(request.exchange, sizes, { caller, services, now })
      const read: Order<unknown> = bodied instanceof Promise ? await bodied : bodied
      request.hasOrdered(read)
      // Before a response is repeated: another key of the account may have been allowed to use the model.
      const finding = catalogue.find(read.model, caller, startedAt)
      const model = finding instanceof Promise ? await finding : finding
      request.names(model)
      const keeping = isKeyed(exchange)
        ? idempotency?.begin(endpoint.name, { id, caller, exchange: request.exchange }, read)
        : cache?.begin(endpoint.name, { id, caller, exchange: request.exchange }, read, model)
      const earlier = keeping === undefined ? undefined : await keeping
      if (earlier instanceof KeyedRequest) request.keyed = earlier
      else if (earlier !== undefined && !(earlier instanceof CachedAnswer)) {
        const repeating = { id, startedAt, caller, services, signal: exchange.signal }
        return request.answered((await endpoint.repeat?.(read, earlier, repeating)) ?? earlier)
      }
      const order = fittedOrder(endpoint, read, model)
      if (endpoint.fit !== undefined) await endpoint.fit(order, model)
      const early = endpoint.early && (await endpoint.early(order, { id, startedAt }))
      if (early !== undefined) {
        await request.keyed?.giveBack()
        return request.answered(early)
      }
      const admitting = request.entry?.admit(endpoint, order, model)
      const ticket = admitting instanceof Promise ? await admitting : admitting
      request.isServed()
      const expected = ticket?.demand.promptTokens ?? order.promptTokens
      const sized = expected === order.promptTokens ? order : overlaid(order, { promptTokens: expected })
      if (earlier instanceof CachedAnswer)
        return request.finished(
          await serveCached(this.#assembly, endpoint.name, request, { caller, order: sized }, ticket, earlier),
          ticket?.headers,
        )
      const detaching = endpoint.detach?.(sized, { id, startedAt, caller, services })
      const served = await (detaching === undefined
        ? serve(this.#assembly, endpoint, request, { caller, order: sized, model }, ticket)
        : serveDetached(this.#assembly, endpoint, request, { caller, model, detaching }, ticket))
      const reply = request.keyed === undefined ? served : await request.keyed.keep(served)
      return request.finished(reply, ticket?.headers)
    } catch (thrown) {
      return request === undefined ? finished(requestId(), false, refuse(thrown)) : await request.refused(thrown)
    } finally {
      calls.leave()
    }
  }

  /**
   * Shuts down: new requests get 503 with `retry-after`, requests in progress may finish within `graceMs`, then streams
   * end with an error event; WebSockets close with their last request; at last stores and providers are closed. Further
   * calls return the same promise.
   */
  close({ graceMs = 10_000, settleMs = 10_000 }: CloseOptions = {}): Promise<void> {
    this.#closing ??= shutDown(this.#assembly, this.connections, this.#options.storage ?? {}, { graceMs, settleMs })
    return this.#closing
  }
}
