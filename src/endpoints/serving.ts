/** The part of a request after admission: choosing a deployment, calling its provider, responding, settling. */
import { lengthChanges } from '../admission/length.ts'
import { Meter, type Receipt } from '../billing/receipt.ts'
import type { Caller } from '../auth/contract.ts'
import { GatewayError } from '../errors.ts'
import { isSettledWithin, within } from '../http/deadline.ts'
import { eventStream, type EventStreamOptions, type Frames } from '../http/event-stream.ts'
import type { Reply } from '../http/exchange.ts'
import { amendForm, prefixForm } from '../http/form.ts'
import type { Heartbeat } from '../http/heartbeat.ts'
import { unlessAborted, type OpenCall } from '../http/open-calls.ts'
import { errorFrame, keepAliveFrame, sseHeaders } from '../http/sse.ts'
import type { Deployment, Model } from '../models/contract.ts'
import { passesLate } from '../models/cost-guard.ts'
import type { Observer } from '../observing/observe.ts'
import type { Timeouts } from '../http/timeouts.ts'
import type { Call } from '../providers/contract.ts'
import type { Breaker } from '../routing/breaker.ts'
import { mayHaveBegun, notAgain } from '../routing/begun-work.ts'
import { perform, type AttemptEnd, type RetryOptions } from '../routing/perform.ts'
import { plan } from '../routing/plan.ts'
import type { Work } from '../routing/work.ts'
import type { CallEndpoint, Context } from './endpoint.ts'
import { amend, callFor, overlaid } from './order.ts'
import { othersTurn } from '../providers/turns.ts'

/** What `Serving` needs from the gateway. */
export interface ServingOptions {
  readonly retry: RetryOptions
  readonly timeouts: Timeouts
  readonly breaker: Breaker
  readonly heartbeat: Heartbeat
  readonly random: () => number
  readonly observer: Observer
}

/** A request that has passed the rate limits and whose money is held. */
export interface Admitted<Request> extends Omit<Context<Request>, 'meter' | 'observer'> {
  readonly caller: Caller
  /** Milliseconds since `startedAt`, measured by a monotonic clock. */
  readonly elapsedMs: () => number
  /** The limit of output tokens to send to the vendor if the request has none, so that the held amount suffices. */
  readonly cap?: number | undefined
  /** Tracks which providers are working for this request. */
  readonly work: Work
  /** Called once with the receipt. */
  readonly deliver: (receipt: Receipt) => void
}

type StreamingEndpoint<R, A> = CallEndpoint<R, A> & Required<Pick<CallEndpoint<R, A>, 'frames'>>

/** Serves admitted requests. */
export class Serving {
  readonly #options: ServingOptions

  constructor(options: ServingOptions) {
    this.#options = options
  }

  /**
   * The reply to a request. Throws the error to respond with. In every case, at the latest when the body ends, the
   * receipt is delivered, the call is closed and the form is disposed of.
   */
  async serve<R, A>(endpoint: CallEndpoint<R, A>, admitted: Admitted<R>, call: OpenCall): Promise<Reply> {
    const meter = this.#meter(endpoint, admitted)
    const { order } = admitted
    const { observer } = this.#options
    const context: Context<R> = { ...admitted, meter, observer }
    const end = (outcome: Receipt['outcome'], error?: GatewayError) => {
      try {
        meter.end(outcome, error)
      } catch (thrown) {
        observer.failure({ id: context.id, error: thrown })
      }
      call.done(outcome === 'completed' ? undefined : (error ?? new GatewayError('client_closed')))
      order.form?.dispose()
    }
    const { stallMs = 60_000, idleMs = 600_000, keepAliveMs = 15_000 } = this.#options.timeouts
    const bodyOf = (frames: Frames, events?: Pick<EventStreamOptions, 'opening' | 'idle' | 'failed'>) =>
      eventStream(frames, {
        heartbeat: this.#options.heartbeat,
        stallMs,
        silentBeats: Math.ceil(idleMs / keepAliveMs),
        signal: call.signal,
        ...events,
        keepReading: () => call.disconnect(),
        writing: () => meter.firstByte(),
        ended: (outcome, error) => {
          end(outcome === 'failed' && isCallersEnd(error) ? 'cancelled' : outcome, error)
          if (error !== undefined && error.status >= 500) observer.failure({ id: context.id, error })
        },
      })
    try {
      const pending = this.#ask(endpoint, context, admitted.work, call.signal, boundOf(endpoint, admitted))
      // The field `stream` may be the last part of a form.
      if (order.form !== undefined) await Promise.race([order.form.arrived, pending])
      if (!streams(endpoint) || !order.stream) {
        const answer = await pending
        // A response can contain parts of a large request. It is serialised in one turn, and written in another.
        if (order.large === true) await othersTurn(order)
        const reply = endpoint.whole(answer, context)
        if (order.large === true) await othersTurn(order)
        if ('bytes' in reply) {
          return { status: 200, headers: { 'content-type': reply.contentType }, body: bodyOf(reply.bytes) }
        }
        meter.firstByte()
        end(call.disconnected ? 'cancelled' : 'completed')
        return reply
      }
      const { frames, opening, idle } = await this.#frames(endpoint, context, pending)
      const failed = (error: GatewayError) => endpoint.failed?.(error, context) ?? errorFrame(error)
      return { status: 200, headers: sseHeaders, body: bodyOf(frames, { opening, idle, failed }) }
    } catch (thrown) {
      const error = GatewayError.from(thrown)
      end(isCallersEnd(error) ? 'cancelled' : 'failed', error)
      throw thrown
    }
  }

  /** Tries the deployments of the model until one responds. */
  #ask<R, A>(
    endpoint: CallEndpoint<R, A>,
    context: Context<R>,
    work: Work,
    signal: AbortSignal,
    bound?: Record<string, unknown>,
  ): Promise<A> {
    const { order, model, meter, id } = context
    const attempt = (deployment: Deployment) => {
      const { provider, model: named, open: openModel = false } = deployment
      meter.attempt(provider, named)
      const sent = (share?: number) => meter.sent(share)
      const head = { id, signal, model: named, openModel, maxOutputTokens: model.maxOutputTokens, sent }
      const call = fitted(callFor(order, head), endpoint.name, model, deployment)
      const bounded = bound === undefined ? call : amend(call, bound)
      return unlessAborted(endpoint.ask(work.of(provider), bounded, context), signal, endpoint.discard)
    }
    const { retry, timeouts, breaker, random, observer } = this.#options
    const candidates = plan(model.deployments, random)
    const final = (failure: unknown) => order.form?.spent === true || (endpoint.once === true && mayHaveBegun(failure))
    const ended = ({ provider, model: providerModel }: Deployment, end: AttemptEnd) => {
      if (end.outcome === 'failed') meter.attemptFailed()
      observer.attempt({ id, model: order.model, provider: provider.name, providerModel, ...end })
    }
    const pending = perform({ candidates, attempt, signal, breaker, retry, random, ended, final })
    const bounded = within(timeouts.firstContentMs ?? 600_000, pending, `the model "${model.id}"`)
    return endpoint.once === true ? bounded.catch(notAgain) : bounded
  }

  /**
   * The frames of a stream. If the first content takes long, status 200 is sent before it, so that empty events can
   * keep the connection open; only then does a failure before the first content become an event instead of a status.
   */
  async #frames<R, A>(endpoint: StreamingEndpoint<R, A>, context: Context<R>, pending: Promise<A>) {
    const { keepAliveMs = 15_000 } = this.#options.timeouts
    let answer = (await isSettledWithin(keepAliveMs, pending)) ? await pending : undefined
    const idle = endpoint.idle && (() => endpoint.idle?.(answer, context))
    if (answer !== undefined) return { frames: endpoint.frames(answer, context, false), idle }
    const later = async function* () {
      answer = await pending
      yield* endpoint.frames(answer, context, true)
    }
    const opening = endpoint.opening?.(context) ?? idle?.() ?? keepAliveFrame
    return { frames: later(), opening, idle }
  }

  #meter({ name }: { readonly name: string }, admitted: Admitted<unknown>): Meter {
    const { id, caller, order, startedAt, elapsedMs, deliver } = admitted
    return new Meter({
      id,
      endpoint: name,
      caller,
      model: order.model,
      streamed: () => order.stream,
      startedAt,
      estimatedPromptTokens: () => order.promptTokens,
      elapsedMs,
      deliver,
    })
  }
}

/** The call with the fields that the host has set, and with a check of form fields that arrive after routing. */
function fitted<R>(call: Call<R>, endpoint: string, model: Model, deployment: Deployment): Call<R> {
  const fixed =
    deployment.set === undefined && model.set === undefined ? undefined : { ...deployment.set, ...model.set }
  const { form } = call
  if (form === undefined) return fixed === undefined ? call : amend(call, fixed)
  const checked = amendForm(form, (name, value) => (passesLate(endpoint, name, value, model) ? value : undefined))
  return overlaid(fixed === undefined ? call : amend(call, fixed), {
    form: fixed === undefined ? checked : prefixForm(checked, fixed),
  })
}

function streams<R, A>(endpoint: CallEndpoint<R, A>): endpoint is StreamingEndpoint<R, A> {
  return endpoint.frames !== undefined
}

/** Whether the caller ended the request, by disconnecting or because its key was revoked; then it is still charged. */
function isCallersEnd(error: GatewayError | undefined): boolean {
  return error?.code === 'client_closed' || error?.code === 'invalid_api_key'
}

/** The changes to a request that limit its output to what the held amount covers. */
function boundOf<R, A>({ lengthFields }: CallEndpoint<R, A>, { cap, order }: Admitted<R>) {
  if (lengthFields === undefined || cap === undefined) return undefined
  return lengthChanges(order.field, lengthFields[0], cap)
}
