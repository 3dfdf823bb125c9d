import { tierIn } from '../admission/highest-cost.ts'
import { lengthChanges } from '../admission/output-length.ts'
import { Meter } from '../admission/meter.ts'
import type { Receipt } from '../money/receipt.ts'
import { GatewayError } from '../errors.ts'
import { noAnswer } from '../http/deadline.ts'
import type { Usage } from '../wire/usage.ts'
import { estimateTokens } from '../wire/counts.ts'
import type { OpenCall } from '../http/open-calls.ts'
import type { Deployment } from '../models/contract.ts'
import type { Observer } from '../observe/observe.ts'
import type { AttemptWatch, CallWatch } from '../observe/watch.ts'
import type { Call, Provider } from '../providers/contract.ts'
import type { AttemptEnd } from '../money/attempt-log.ts'
import type { Trial } from '../routing/attempts.ts'
import { ProviderError } from '../providers/failure.ts'
import type { Preference } from '../routing/preference.ts'
import type { PassedOver } from '../routing/attempt-order.ts'
import type { VendorQueues } from '../routing/queue/queues.ts'
import type { Turn } from '../routing/queue/vendor-queue.ts'
import { mayHaveBegun } from '../routing/begun-work.ts'
import { AttemptLimits } from './attempt-limits.ts'
import type { Canceller } from '../http/cancellation.ts'
import { mayWorkElsewhere } from '../routing/attempts.ts'
import { Succession } from '../routing/succession.ts'
import type { Admitted } from './admitted.ts'
import type { CallEndpoint, Context, Successor } from './endpoint.ts'
import { callOf } from './fitted-call.ts'
import { ask } from './inspected-call.ts'
import { amend } from './order.ts'

/** One admitted request: how a deployment is called for it, and how it ends. */
export class Served<R, A> implements Trial<A> {
  readonly candidates: readonly Deployment[]
  readonly cancellation: OpenCall
  readonly context: Context<R>
  readonly watch: CallWatch | undefined
  readonly #endpoint: CallEndpoint<R, A>
  readonly #admitted: Admitted<R>
  readonly #timeoutMs: number
  readonly #preference: Preference
  /** Whether the times of deployments matter to the model. */
  readonly #learns: boolean
  /** Those of the attempt in progress, or of the one whose response is sent. */
  #limits: AttemptLimits<A> | undefined
  readonly #queues: VendorQueues | undefined
  /** The last turn in a queue. */
  #turn: Turn | undefined
  /** Whether the attempt waits for its turn, so that nothing is sent. */
  isWaiting = false
  #provider: Provider | undefined
  /** The attempt in progress, or the one whose response is sent. */
  #attempt: AttemptWatch | undefined
  /** Set if a stream that breaks off goes on. */
  readonly #succession: Succession | undefined
  /** Whether a comment is to say that the stream has gone on. */
  #hasGoneOn = false
  /** The changes to the request that limit its output to what the held amount covers. */
  readonly #bound: Record<string, unknown> | undefined

  constructor(parts: {
    readonly endpoint: CallEndpoint<R, A>
    readonly admitted: Admitted<R>
    readonly call: OpenCall<Meter>
    readonly candidates: readonly Deployment[]
    readonly observer: Observer
    readonly queues: VendorQueues | undefined
    readonly timeoutMs: number
    readonly preference: Preference
  }) {
    const { endpoint, admitted, observer } = parts
    const { id, order, model, startedAt, cap, inspection } = admitted
    this.#endpoint = endpoint
    this.#admitted = admitted
    this.watch = admitted.watch
    this.#timeoutMs = parts.timeoutMs
    this.#preference = parts.preference
    this.#learns = model.prefer !== undefined || parts.candidates.some((each) => each.firstContentMs === 'usual')
    this.#queues = parts.queues
    this.candidates = parts.candidates
    this.cancellation = parts.call
    this.#succession = model.continue === true && order.stream ? new Succession(parts.candidates) : undefined
    const successor = this.#succession && ((failure: unknown, used: Usage) => this.#successor(failure, used))
    const inParts = successor !== undefined || inspection !== undefined
    const meter = (parts.call.subject = new Meter(endpoint.name, admitted))
    this.context = { id, order, model, meter, observer, startedAt, successor, inspection, inParts }
    const { lengthFields } = endpoint
    this.#bound =
      lengthFields === undefined || cap === undefined ? undefined : lengthChanges(order.field, lengthFields[0], cap)
  }

  /** Reports the deployments that are not tried in their turn. */
  passOver(deployments: readonly PassedOver[]): void {
    for (const { deployment, reason } of deployments) {
      this.#skip(deployment, new GatewayError(whyPassedOver[reason].code, whyPassedOver[reason]))
    }
  }

  #skip(deployment: Deployment, error: GatewayError, ms: number = 0): void {
    const { id, order, observer, meter } = this.context
    meter.skipped(deployment, error)
    const { provider, model: providerModel } = deployment
    const names = { id, model: order.model, provider: provider.name, providerModel }
    if (observer.watchesAttempts) observer.attemptEnded({ ...names, outcome: 'skipped', ms, error })
  }

  attempt(deployment: Deployment): Promise<A> {
    if (this.#queues === undefined) return this.#call(deployment)
    this.isWaiting = true
    const { caller, order } = this.#admitted
    const call = this.#queues.call(caller, order.promptTokens, this.cancellation)
    return this.#queues.of(deployment).run(call, (turn) => this.#call(deployment, turn))
  }

  #call(deployment: Deployment, turn?: Turn): Promise<A> {
    this.#turn = turn
    this.isWaiting = false
    this.#provider = deployment.provider
    this.#succession?.tried(deployment)
    const attempt = (this.#attempt = this.watch && this.#watched(this.watch, deployment))
    const limits = this.#limit(deployment)
    const bounded = this.#callOf(deployment, limits ?? this.cancellation, turn)
    const { model, meter } = this.context
    const { price = deployment.price } = model
    meter.attempt(deployment, price?.hasServiceTiers === true ? tierIn(bounded.field) : undefined)
    const working = this.#admitted.work.of(deployment.provider)
    // The closure is in another method: beside `sent`, which lives as long as the response, it would keep the request.
    const answer =
      attempt === undefined
        ? ask(this.#endpoint, working, bounded, this.context)
        : this.#askWithin(attempt, working, bounded)
    return limits === undefined ? answer : limits.within(answer)
  }

  /** The call of a deployment, with no more output than what the held amount covers. */
  #callOf(deployment: Deployment, cancellation: Canceller, turn?: Turn): Call<R> {
    const call = callOf(this.#endpoint.name, this.#admitted, deployment, {
      cancellation,
      meter: this.context.meter,
      answered: turn?.answered,
      headers: this.#attempt?.headers,
    })
    return this.#bound === undefined ? call : amend(call, this.#bound)
  }

  /** What goes on with the stream after this failure. */
  #successor(failure: unknown, used: Usage): Successor | undefined {
    const deployment = this.cancellation.aborted || !mayWorkElsewhere(failure) ? undefined : this.#succession?.next()
    if (deployment === undefined) return undefined
    const error = GatewayError.from(failure)
    const { meter, order } = this.context
    meter.goesOn(deployment, error, used)
    this.#hasGoneOn = this.#endpoint.streamType?.(order, undefined) === undefined
    this.#attempt?.ended({ outcome: 'failed', error })
    this.#attempt = this.watch && this.#watched(this.watch, deployment)
    return { provider: this.#admitted.work.of(deployment.provider), call: this.#callOf(deployment, this.cancellation) }
  }

  /** A comment for the client, once after another deployment has gone on with the stream. */
  takeNote(): string | undefined {
    if (!this.#hasGoneOn) return undefined
    this.#hasGoneOn = false
    return ': the answer goes on at another deployment\n\n'
  }

  #limit(deployment: Deployment): AttemptLimits<A> | undefined {
    const { firstContentMs: given, timeoutMs } = deployment
    this.#limits?.close()
    this.#limits = undefined
    if (given === undefined && timeoutMs === undefined) return undefined
    const limit = given === 'usual' ? this.#preference.times.p99Ms(deployment) : given
    const firstContentMs = this.context.order.stream ? limit : undefined
    if (firstContentMs === undefined && timeoutMs === undefined) return undefined
    this.#limits = new AttemptLimits({ firstContentMs, timeoutMs }, this.cancellation, (answer) => this.discard(answer))
    return this.#limits
  }

  #askWithin(attempt: AttemptWatch, provider: Provider, call: Call<R>): Promise<A> {
    return attempt.within(() => ask(this.#endpoint, provider, call, this.context))
  }

  #watched(watch: CallWatch, { provider, model: providerModel, open: openModel = false }: Deployment) {
    const { id, order } = this.context
    return watch.attempt({
      id,
      endpoint: this.#endpoint.name,
      step: 'call',
      model: order.model,
      provider: provider.name,
      providerModel,
      openModel,
      origin: provider.origin,
      request: order,
    })
  }

  /** The first content has arrived, so no attempt can follow. Lets go of what nothing reads later. */
  begun(): void {
    const { readsLater } = this.#endpoint
    if (this.#succession !== undefined) return
    if (readsLater !== undefined && this.#provider?.releasesCalls === true) this.context.order.release?.(readsLater)
  }

  failed(gaveUp: boolean): void {
    this.context.meter.attemptFailed(gaveUp || this.#limits?.aborted)
  }

  isFinal(failure: unknown): boolean {
    // For a client that has gone, only the response that was begun is read.
    if (this.context.order.form?.spent === true || this.cancellation.disconnected) return true
    if (billedOf(failure) !== undefined) return true
    return this.#endpoint.once === true && mayHaveBegun(failure)
  }

  timeout(): GatewayError {
    return noAnswer(this.#timeoutMs, `the model "${this.context.model.id}"`, 'provider_timeout')
  }

  discard(answer: A): void {
    this.#endpoint.discard?.(answer)
  }

  get isWatched(): boolean {
    return (
      this.#learns ||
      this.#admitted.logsAttempts === true ||
      this.watch !== undefined ||
      this.context.observer.watchesAttempts
    )
  }

  ended(deployment: Deployment, end: AttemptEnd): void {
    if (this.isWaiting) return this.#skip(deployment, GatewayError.from(end.error), end.ms)
    const { provider, model: providerModel } = deployment
    const { id, order, observer, meter } = this.context
    meter.attemptEnded(end)
    if (this.#learns && order.stream && end.outcome === 'succeeded')
      this.#preference.times.add({ provider, model: providerModel }, end.ms)
    if (end.outcome === 'succeeded') this.#attempt?.begun()
    else this.#attempt?.ended(end)
    if (observer.watchesAttempts)
      observer.attemptEnded({ id, model: order.model, provider: provider.name, providerModel, ...end })
  }

  /** Delivers the receipt, closes the call and disposes of the form. */
  end(outcome: Receipt['outcome'], error?: GatewayError): void {
    const { id, meter, observer, order, model } = this.context
    if (model.prefer !== undefined && outcome === 'completed') this.#learn()
    const billed = billedOf(error)
    if (billed !== undefined) meter.bill(billed)
    this.#turn?.used(meter.usage?.total_tokens ?? order.promptTokens + estimateTokens(meter.textBytes))
    try {
      meter.end(outcome, error)
    } catch (thrown) {
      observer.failure({ id, error: thrown })
    }
    if (this.watch !== undefined) this.#unwatch(this.watch, outcome, error)
    this.cancellation.done(outcome === 'completed' ? undefined : (error ?? new GatewayError('client_closed')))
    this.#limits?.close()
    order.form?.dispose()
  }

  /** For the next request of the conversation. */
  #learn(): void {
    const { order, model, meter } = this.context
    const { deployment } = meter
    const { promptTokens } = order
    if (deployment === undefined) return
    const conversation = this.#admitted.conversation?.id
    this.#preference.served({ model: model.id, deployment, conversation, promptTokens, usage: meter.usage })
  }

  #unwatch(watch: CallWatch, outcome: Receipt['outcome'], error: GatewayError | undefined): void {
    const { receipt, response } = watch
    this.#attempt?.ended({ outcome: outcome === 'failed' ? 'failed' : 'succeeded', error, receipt, response })
    watch.ended({ outcome, error })
  }

  /** Like `end`, for a request that failed unless the caller ended it. */
  endWith(error: GatewayError): void {
    const { disconnected, aborted } = this.cancellation
    this.end(isCallersEnd(error) || (disconnected && aborted) ? 'cancelled' : 'failed', error)
  }
}

const whyPassedOver = {
  breaker: { code: 'service_unavailable', message: 'The breaker is open: too many calls in a row have failed.' },
  context: { code: 'context_length_exceeded', message: 'The request seems too long for this deployment.' },
} as const

function billedOf(failure: unknown) {
  return failure instanceof ProviderError ? failure.billed : undefined
}

/** Whether the caller ended the request, by disconnecting or because its key was revoked; then it is still charged. */
function isCallersEnd({ code }: GatewayError): boolean {
  return code === 'client_closed' || code === 'invalid_api_key'
}
