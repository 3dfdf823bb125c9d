/** The part of a request after admission: choosing a deployment, calling its provider, responding, settling. */
import type { Meter } from '../admission/meter.ts'
import { GatewayError } from '../errors.ts'
import { eventStream, type EventStreamOptions, type Frames } from '../http/event-stream.ts'
import type { Reply, StreamBody } from '../http/exchange.ts'
import { flowAfter } from '../http/flow-of.ts'
import type { Heartbeat } from '../http/heartbeat.ts'
import type { OpenCall } from '../http/open-calls.ts'
import { errorFrame, keepAliveFrame, sseHeaders } from '../http/sse.ts'
import { TimeLimit } from '../http/time-limit.ts'
import type { Timeouts } from '../http/timeouts.ts'
import type { Observer } from '../observe/observe.ts'
import { yieldIfLarge } from '../providers/yielding.ts'
import { Attempts, type AttemptSettings, type RetryOptions } from '../routing/attempts.ts'
import { notAgain } from '../routing/begun-work.ts'
import type { Breaker } from '../routing/breaker.ts'
import { FirstContentTimes } from '../routing/first-content-times.ts'
import { Preference } from '../routing/preference.ts'
import type { VendorQueues } from '../routing/queue/queues.ts'
import { attemptOrder, fittingFirst, passedOver } from '../routing/attempt-order.ts'
import type { CallEndpoint } from './endpoint.ts'
import type { Admitted } from './admitted.ts'
import { Served } from './served.ts'

/** What `Serving` needs from the gateway. */
export interface ServingOptions {
  readonly retry: RetryOptions
  readonly timeouts: Timeouts
  readonly breaker: Breaker
  readonly heartbeat: Heartbeat
  readonly random: () => number
  readonly observer: Observer
  /** Undefined: calls are sent at once. */
  readonly queues?: VendorQueues | undefined
}

type StreamingEndpoint<R, A> = CallEndpoint<R, A> & Required<Pick<CallEndpoint<R, A>, 'frames'>>

/** Serves admitted requests. */
export class Serving {
  readonly #options: ServingOptions
  readonly #settings: AttemptSettings
  readonly #timeoutMs: number
  readonly #preference = new Preference(new FirstContentTimes())
  /** How long a stream waits for its first content before its head is sent. */
  readonly #patience: TimeLimit

  constructor(options: ServingOptions) {
    const { breaker, retry, random, timeouts } = options
    const { firstContentMs = 600_000, keepAliveMs = 15_000 } = timeouts
    this.#options = options
    this.#timeoutMs = firstContentMs
    this.#settings = { breaker, retry, random, limit: new TimeLimit(firstContentMs) }
    this.#patience = new TimeLimit(keepAliveMs)
  }

  /**
   * The reply to a request. Throws the error to respond with. In every case, at the latest when the body ends, the
   * receipt is delivered, the call is closed and the form is disposed of.
   */
  async serve<R, A>(endpoint: CallEndpoint<R, A>, admitted: Admitted<R>, call: OpenCall<Meter>): Promise<Reply> {
    const { observer, random, queues } = this.#options
    const { order, model, conversation } = admitted
    const preference = this.#preference
    const asked = { promptTokens: order.promptTokens, conversation: conversation?.id }
    const ordered = preference.order(model, attemptOrder(model.deployments, random, conversation?.id), asked)
    const candidates = this.#settings.breaker.usable(fittingFirst(ordered, order))
    const served = new Served({
      endpoint,
      admitted,
      call,
      candidates,
      observer,
      timeoutMs: this.#timeoutMs,
      preference,
      queues,
    })
    served.passOver(passedOver(ordered, candidates[0], order))
    try {
      const attempts = new Attempts<A>(this.#settings, served)
      // The field `stream` may be the last part of a form.
      if (order.form !== undefined) await Promise.race([order.form.arrived, answerOf(endpoint, attempts)])
      if (streams(endpoint) && order.stream) {
        const isFile = endpoint.isFile?.(order) === true
        if (order.isBackground === true) return this.#streamed(endpoint, served, attempts, undefined, isFile)
        const soon = isFile ? attempts.answer() : attempts.answerWithin(this.#patience)
        const first = await (endpoint.once === true ? soon.catch(notAgain) : soon)
        return this.#streamed(endpoint, served, attempts, first, isFile)
      }
      const answer = await answerOf(endpoint, attempts)
      // A response can contain parts of a large request. It is serialised in one turn, and written in another.
      if (order.large === true) await yieldIfLarge(order)
      const reply = endpoint.whole(answer, served.context)
      if (order.large === true) await yieldIfLarge(order)
      served.context.meter.firstByte()
      served.end(call.disconnected ? 'cancelled' : 'completed')
      const headers = withOmitted(reply.headers, served)
      return headers === reply.headers ? reply : { ...reply, headers }
    } catch (thrown) {
      served.endWith(GatewayError.from(thrown))
      throw thrown
    }
  }

  /** Stops the timers. */
  close(): void {
    this.#settings.limit.close()
    this.#patience.close()
    this.#options.heartbeat.close()
    this.#options.queues?.close()
  }

  /**
   * A streamed reply. If the first content takes long, `first` is undefined and status 200 is sent before it, so that
   * empty events can keep the connection open; only then does a failure before the first content become an event instead
   * of a status.
   */
  #streamed<R, A>(
    endpoint: StreamingEndpoint<R, A>,
    served: Served<R, A>,
    attempts: Attempts<A>,
    first: A | undefined,
    isFile: boolean,
  ): Reply {
    const { context } = served
    let answer = first
    const idle = endpoint.idle && (() => endpoint.idle?.(answer, context))
    const failed = (error: GatewayError) => endpoint.failed?.(error, context) ?? errorFrame(error)
    if (answer !== undefined) {
      served.begun()
      const body = this.#body(endpoint.frames(answer, context, false), served, { idle, failed, isFile })
      return { status: 200, headers: withOmitted(headersOf(endpoint, served, answer), served), body }
    }
    const pending = answerOf(endpoint, attempts)
    const later = async () => {
      answer = await pending
      served.begun()
      return endpoint.frames(answer, context, true)
    }
    const opening = endpoint.opening?.(context) ?? idle?.() ?? keepAliveFrame
    const body = this.#body(flowAfter(later()), served, { opening, idle, failed })
    return { status: 200, headers: withOmitted(headersOf(endpoint, served, undefined), served), body }
  }

  #body<R, A>(
    frames: Frames,
    served: Served<R, A>,
    events: Pick<EventStreamOptions, 'opening' | 'idle' | 'failed' | 'isFile'>,
  ): StreamBody {
    const { stallMs = 60_000, idleMs = 600_000, keepAliveMs = 15_000 } = this.#options.timeouts
    const { id, meter, observer } = served.context
    if (served.watch !== undefined) served.watch.sentStatus = 200
    return eventStream(frames, {
      heartbeat: this.#options.heartbeat,
      stallMs,
      silentBeats: Math.ceil(idleMs / keepAliveMs),
      signal: served.cancellation,
      ...events,
      keepReading: () => served.cancellation.disconnect(),
      writing: () => {
        meter.firstByte()
        served.watch?.piece()
        return served.takeNote()
      },
      ended: (outcome, error) => {
        if (outcome === 'failed' && error !== undefined) served.endWith(error)
        else served.end(outcome, error)
        if (error !== undefined && error.status >= 500) observer.failure({ id, error })
      },
    })
  }
}

function headersOf<R, A>(
  { streamType }: StreamingEndpoint<R, A>,
  { context }: Served<R, A>,
  answer: A | undefined,
): Reply['headers'] {
  const type = streamType?.(context.order, answer)
  return type === undefined ? sseHeaders : { ...sseHeaders, 'content-type': type }
}

/** Tells the client which parts of its request the provider did not get. Their names may be the client's. */
function withOmitted<R, A>(headers: Reply['headers'], { context }: Served<R, A>): Reply['headers'] {
  const { omitted } = context.meter
  if (omitted === undefined) return headers
  return { ...headers, 'x-modelhatch-omitted': omitted.map((name) => name.replaceAll(/[^\w.:[\]-]/g, '_')).join(', ') }
}

function answerOf<R, A>({ once }: CallEndpoint<R, A>, attempts: Attempts<A>): Promise<A> {
  return once === true ? attempts.answer().catch(notAgain) : attempts.answer()
}

function streams<R, A>(endpoint: CallEndpoint<R, A>): endpoint is StreamingEndpoint<R, A> {
  return endpoint.frames !== undefined
}
