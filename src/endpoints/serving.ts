/** One admitted call: route → provider → respond → settle. */
import { Meter, type Receipt } from '../billing/receipt.ts'
import type { Caller } from '../auth/contract.ts'
import { GatewayError } from '../errors.ts'
import { isSettledWithin, within } from '../http/deadline.ts'
import { eventStream } from '../http/event-stream.ts'
import type { Reply } from '../http/exchange.ts'
import type { Heartbeat } from '../http/heartbeat.ts'
import { unlessAborted, type OpenCall } from '../http/open-calls.ts'
import { errorFrame, sseHeaders } from '../http/sse.ts'
import type { Deployment } from '../models/contract.ts'
import { publishAttempt, publishFailure } from '../observe.ts'
import type { Timeouts } from '../options.ts'
import type { Breaker } from '../routing/breaker.ts'
import { mayHaveBegun, notAgain } from '../routing/once.ts'
import { perform, type RetryOptions } from '../routing/perform.ts'
import { plan } from '../routing/plan.ts'
import type { CallEndpoint, Visit } from './endpoint.ts'
import { amend, callFor } from './order.ts'

export interface ServingOptions {
  readonly retry: RetryOptions
  readonly timeouts: Timeouts
  readonly breaker: Breaker
  readonly heartbeat: Heartbeat
  readonly now: () => number
  readonly random: () => number
}

/** A call whose limits and money are taken. */
export interface Admitted<Request> extends Omit<Visit<Request>, 'meter'> {
  readonly caller: Caller
  /** Tokens that the vendor is told to stop at, where the request does not say. */
  readonly cap?: number | undefined
  /** Gets the receipt, once. */
  readonly deliver: (receipt: Receipt) => void
}

export class Serving {
  readonly #options: ServingOptions

  constructor(options: ServingOptions) {
    this.#options = options
  }

  /** From the model to the reply; the meter ends with whatever becomes of it, and the call is closed. */
  async serve<R, A>(endpoint: CallEndpoint<R, A>, admitted: Admitted<R>, call: OpenCall): Promise<Reply> {
    const meter = this.#meter(endpoint, admitted)
    const { order } = admitted
    const visit: Visit<R> = { ...admitted, meter }
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
      const asking = this.#ask(endpoint, visit, call.signal, boundOf(endpoint, admitted))
      // Whether the client wants a stream may be said in the last line of a form.
      if (order.form !== undefined) await Promise.race([order.form.arrived, asking])
      if (!order.stream) {
        const reply = endpoint.whole(await asking, visit)
        meter.firstByte()
        end(call.left ? 'cancelled' : 'completed')
        return reply
      }
      const { frames, slow } = await this.#frames(endpoint, visit, asking)
      const { stallMs = 60_000, silenceMs = 600_000, keepAliveMs = 15_000 } = this.#options.timeouts
      const writing = () => meter.firstByte()
      const body = eventStream(frames, {
        heartbeat: this.#options.heartbeat,
        stallMs,
        silentBeats: Math.ceil(silenceMs / keepAliveMs),
        signal: call.signal,
        slow,
        goesOn: () => call.leave(),
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
  #ask<R, A>(
    endpoint: CallEndpoint<R, A>,
    visit: Visit<R>,
    signal: AbortSignal,
    bound?: Record<string, unknown>,
  ): Promise<A> {
    const { order, model, meter, id } = visit
    const attempt = (deployment: Deployment) => {
      meter.attempt(deployment.provider.name, deployment.model)
      const { provider, model: named, open: openModel = false } = deployment
      const call = callFor(order, { id, signal, model: named, openModel, maxOutputTokens: model.maxOutputTokens })
      const bounded = bound === undefined ? call : amend(call, bound)
      return unlessAborted(endpoint.ask(provider, bounded, visit), signal, endpoint.discard)
    }
    const { retry, timeouts, breaker, random } = this.#options
    const candidates = plan(model.deployments, random)
    const final = (failure: unknown) => order.form?.spent === true || (endpoint.once === true && mayHaveBegun(failure))
    const failed = ({ provider, model: providerModel }: Deployment, error: unknown) =>
      publishAttempt({ id, model: order.model, provider: provider.name, providerModel, error })
    const asking = perform({ candidates, attempt, signal, breaker, retry, random, failed, final })
    const asked = within(timeouts.firstByteMs ?? 600_000, asking, `the model "${model.id}"`)
    return endpoint.once === true ? asked.catch(notAgain) : asked
  }

  /**
   * The frames of a stream. A vendor that thinks for long gets its status sent ahead, so that keep-alive comments can
   * hold the connection; only then does a failure before the first content become an event instead of a status.
   */
  async #frames<R, A>(endpoint: CallEndpoint<R, A>, visit: Visit<R>, asking: Promise<A>) {
    const { keepAliveMs = 15_000 } = this.#options.timeouts
    const slow = !(await isSettledWithin(keepAliveMs, asking))
    if (!slow) return { frames: endpoint.frames(await asking, visit), slow }
    const later = async function* () {
      yield* endpoint.frames(await asking, visit)
    }
    return { frames: later(), slow }
  }

  #meter({ name }: { readonly name: string }, admitted: Admitted<unknown>): Meter {
    const { id, caller, order, startedAt, deliver } = admitted
    return new Meter({
      id,
      endpoint: name,
      caller,
      model: order.model,
      streamed: () => order.stream,
      startedAt,
      estimatedPromptTokens: () => order.promptTokens,
      now: this.#options.now,
      deliver,
    })
  }
}

/** The change to a request that makes its answer fit what is held for it. */
function boundOf({ outputField }: { readonly outputField?: string }, { cap }: Pick<Admitted<unknown>, 'cap'>) {
  return outputField === undefined || cap === undefined ? undefined : { [outputField]: cap }
}
