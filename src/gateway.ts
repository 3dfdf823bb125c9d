/** The gateway: puts the parts together, and walks one request through the rooms. */
import { randomUUID } from 'node:crypto'
import { Doorkeeper } from './auth/authenticate.ts'
import type { Caller } from './auth/contract.ts'
import { recordOf } from './auth/key.ts'
import { memoryKeyStore } from './auth/memory.ts'
import { Meter, type Receipt } from './billing/receipt.ts'
import type { CallEndpoint, Order, Parts, Visit } from './endpoints/endpoint.ts'
import { findRoute, isCall, type Endpoint } from './endpoints/routes.ts'
import { GatewayError } from './errors.ts'
import { refuse } from './http/answers.ts'
import { within } from './http/deadline.ts'
import { eventStream } from './http/event-stream.ts'
import type { Exchange, Reply } from './http/exchange.ts'
import { Heartbeat } from './http/heartbeat.ts'
import { OpenCalls, unlessAborted, type OpenCall } from './http/open-calls.ts'
import { defaultSizes, type Sizes } from './http/sizes.ts'
import { errorFrame, sseHeaders } from './http/sse.ts'
import { isBelowV1 } from './http/target.ts'
import { Catalogue } from './models/access.ts'
import type { Deployment } from './models/contract.ts'
import { staticRegistry } from './models/registry.ts'
import { memoryResponseStore } from './responses/memory.ts'
import { publishFailure, publishReceipt } from './observe.ts'
import {
  checkOptions,
  isKeyStore,
  isRegistry,
  isResponseStore,
  type GatewayOptions,
  type KeyOptions,
} from './options.ts'
import type { Provider } from './providers/contract.ts'
import { Breaker } from './routing/breaker.ts'
import { notAgain } from './routing/once.ts'
import { perform } from './routing/perform.ts'
import { plan } from './routing/plan.ts'
import { videoTasks } from './tasks/build.ts'

/** Milliseconds a plug-in may take to give back what it holds. */
const closeMs = 5_000

export interface CloseOptions {
  /** Milliseconds for which calls under way may go on; then streams end with an error event. Default 10,000. */
  readonly graceMs?: number
}

/** Checks the options, throws a `TypeError` that names a mistake, and starts nothing. */
export function createGateway(options: GatewayOptions): Gateway {
  checkOptions(options)
  return new Gateway(options)
}

export class Gateway {
  readonly #options: GatewayOptions
  readonly #now: () => number
  readonly #random: () => number
  readonly #sizes: Sizes
  readonly #door: Doorkeeper
  readonly #catalogue: Catalogue
  readonly #parts: Parts
  readonly #breaker: Breaker
  readonly #heartbeat: Heartbeat
  readonly #calls = new OpenCalls()
  readonly #closers: (() => unknown)[]
  #closing: Promise<void> | undefined

  /** Use `createGateway`, which checks the options first. */
  constructor(options: GatewayOptions) {
    const { models, keys = {}, groups = { default: { models: '*' } }, clock = Date.now } = options
    this.#options = options
    this.#now = clock
    this.#random = options.random ?? Math.random
    this.#sizes = { ...defaultSizes, ...options.sizes }
    this.#heartbeat = new Heartbeat(options.timeouts?.keepAliveMs ?? 15_000)
    this.#breaker = new Breaker(options.breaker ?? {}, clock)

    const store = isKeyStore(keys) ? keys : memoryKeyStore(keyRecords(keys, clock()))
    const { authenticate, keyCache: cache, timeouts } = options
    this.#door = new Doorkeeper({ store, authenticate, cache, timeoutMs: timeouts?.authMs, now: clock })

    const registry = isRegistry(models) ? models : staticRegistry(models, { now: clock })
    this.#catalogue = new Catalogue(registry, groups)

    const { responses = {}, publicUrl = '' } = options
    this.#parts = {
      responses: isResponseStore(responses) ? responses : memoryResponseStore({ clock, ...responses }),
      videos: videoTasks(options, this.#catalogue, clock, this.#random),
      publicUrl: publicUrl.replace(/\/+$/, ''),
    }

    const providers = isRegistry(models) ? [] : providersOf(models)
    const { responses: kept, videos } = this.#parts
    const owned = [videos, this.#door, store, registry, kept, ...providers]
    this.#closers = owned.map((part: { close?: () => unknown }) => () => part.close?.())
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
    const sizes = this.#sizes
    const parts = this.#parts
    const catalogue = this.#catalogue
    if (!isCall(endpoint)) return endpoint.answer({ exchange, caller, rest: route.rest, catalogue, sizes, parts })
    const order: Order<unknown> = await endpoint.read(exchange, sizes, { caller, parts, now: this.#now })
    try {
      const model = await catalogue.find(order.model, caller)
      if (endpoint.fit !== undefined) await endpoint.fit(order, model)
      const meter = this.#meter(id, endpoint, caller, order, startedAt)
      return await this.#call(endpoint, { id, order, model, meter, startedAt }, this.#calls.open(exchange.signal))
    } catch (thrown) {
      order.form?.dispose()
      throw thrown
    }
  }

  /** From the model to the reply; the meter ends with whatever becomes of it, and the call is closed. */
  async #call<R, A>(endpoint: CallEndpoint<R, A>, visit: Visit<R>, call: OpenCall): Promise<Reply> {
    const { meter, order } = visit
    const end = (outcome: Receipt['outcome'], error?: GatewayError) => {
      try {
        meter.end(outcome, error)
      } catch (thrown) {
        publishFailure({ id: visit.id, error: thrown })
      }
      call.done(outcome === 'completed' ? undefined : (error ?? new GatewayError('client_closed')))
      order.form?.dispose()
    }
    try {
      const asking = this.#ask(endpoint, visit, call.signal)
      // Whether the client wants a stream may be said in the last line of a form.
      if (order.form !== undefined) await Promise.race([order.form.arrived, asking])
      if (!order.stream) {
        const reply = endpoint.whole(await asking, visit)
        meter.firstByte()
        end('completed')
        return reply
      }
      const { frames, slow } = await this.#frames(endpoint, visit, asking)
      const { stallMs = 60_000 } = this.#options.timeouts ?? {}
      const writing = () => meter.firstByte()
      const body = eventStream(frames, {
        heartbeat: this.#heartbeat,
        stallMs,
        signal: call.signal,
        slow,
        writing,
        failed: (error) => endpoint.failed?.(error, visit) ?? errorFrame(error),
        ended: (outcome, error) => {
          end(outcome, error)
          if (error !== undefined && error.status >= 500) publishFailure({ id: visit.id, error })
        },
      })
      return { status: 200, headers: sseHeaders, body }
    } catch (thrown) {
      const error = GatewayError.from(thrown)
      end(error.code === 'client_closed' ? 'cancelled' : 'failed', error)
      throw thrown
    }
  }

  /** Route → provider: the deployments of the model, until one has begun to answer. */
  #ask<R, A>(endpoint: CallEndpoint<R, A>, visit: Visit<R>, signal: AbortSignal): Promise<A> {
    const { order, model, meter, id } = visit
    const attempt = (deployment: Deployment) => {
      meter.attempt(deployment.provider.name, deployment.model)
      const call = {
        id,
        signal,
        model: deployment.model,
        publicModel: order.model,
        openModel: deployment.open === true,
        maxOutputTokens: model.maxOutputTokens,
        get stream() {
          return order.stream
        },
        get request() {
          return order.request
        },
        field: order.field,
        json: order.json,
        form: order.form,
      }
      const asked = unlessAborted(endpoint.ask(deployment.provider, call, visit), signal, endpoint.discard)
      return endpoint.once === true ? asked.catch(notAgain) : asked
    }
    const candidates = plan(model.deployments, this.#random)
    const { retry = {}, timeouts } = this.#options
    const asking = perform({ candidates, attempt, signal, breaker: this.#breaker, retry, random: this.#random })
    const asked = within(timeouts?.firstByteMs ?? 600_000, asking, `the model "${model.id}"`)
    return endpoint.once === true ? asked.catch(notAgain) : asked
  }

  /**
   * The frames of a stream. A vendor that thinks for long gets its status sent ahead, so that keep-alive comments can
   * hold the connection; only then does a failure before the first content become an event instead of a status.
   */
  async #frames<R, A>(endpoint: CallEndpoint<R, A>, visit: Visit<R>, asking: Promise<A>) {
    const { keepAliveMs = 15_000 } = this.#options.timeouts ?? {}
    const timer = Promise.withResolvers<'slow'>()
    const timeout = setTimeout(() => timer.resolve('slow'), keepAliveMs)
    timeout.unref()
    const begun = asking.then((answer) => ({ answer }))
    const first = await Promise.race([begun, timer.promise]).finally(() => clearTimeout(timeout))
    if (first !== 'slow') return { frames: endpoint.frames(first.answer, visit), slow: false }
    const later = async function* () {
      yield* endpoint.frames(await asking, visit)
    }
    return { frames: later(), slow: true }
  }

  #meter(id: string, endpoint: Endpoint, caller: Caller, order: Order<unknown>, startedAt: number): Meter {
    const { hooks } = this.#options
    return new Meter({
      id,
      endpoint: endpoint.name,
      caller,
      model: order.model,
      streamed: () => order.stream,
      startedAt,
      estimatedPromptTokens: () => order.promptTokens,
      now: this.#now,
      deliver: (receipt) => publishReceipt(receipt, hooks?.receipt),
    })
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
    // A part that does not close in time must not keep the host from closing.
    const closed = this.#closers.map((close) => within(closeMs, Promise.resolve().then(close), 'close()'))
    await Promise.allSettled(closed)
  }
}

function closingError(): GatewayError {
  return new GatewayError('service_unavailable', {
    message: 'The server is restarting. Try again.',
    retryAfterMs: 1_000,
  })
}

function methodOf(methods: Readonly<Record<string, Endpoint>>, method: string): Endpoint {
  // HEAD is GET whose body the host leaves out.
  const name = method === 'HEAD' ? 'GET' : method
  const endpoint = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (endpoint !== undefined) return endpoint
  throw new GatewayError('method_not_allowed', { headers: { allow: Object.keys(methods).join(', ') } })
}

function keyRecords(keys: Readonly<Record<string, KeyOptions>>, now: number) {
  return Object.entries(keys).map(([key, { group = 'default', account, ...rest }]) => {
    const record = recordOf(key, { ...rest, group, account: account ?? '' }, now)
    return { ...record, account: account ?? record.id }
  })
}

function providersOf(models: Exclude<GatewayOptions['models'], { find: unknown }>): Set<Provider> {
  const providers = new Set<Provider>()
  for (const entry of Object.values(models)) {
    if ('name' in entry) providers.add(entry)
    else {
      if (entry.provider !== undefined) providers.add(entry.provider)
      for (const step of entry.route ?? [])
        if (typeof step === 'object' && 'provider' in step) providers.add(step.provider)
    }
  }
  return providers
}
