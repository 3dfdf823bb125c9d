import type { Caller } from '../callers/contract.ts'
import type { Receipt } from '../money/receipt.ts'
import type { AnsweredResponse } from '../money/tally.ts'
import type { Fault, GatewayError } from '../errors.ts'
import type { Exchange } from '../http/exchange.ts'
import type { BreakerChange, GatewayState, QueueName } from './gateway-state.ts'

/**
 * Receives what a gateway does, from the start of each request to its end: for traces, metrics and logs. Set in the option
 * `telemetry`. All methods are optional and called synchronously; an exception in one is reported as a failure and never
 * affects a request. A gateway without `telemetry` does no work for it.
 */
export interface Telemetry {
  /** Called once by `createGateway`. `state` returns the current state; it is cheap and calls no store. */
  attach?(state: () => GatewayState): void
  /**
   * A request has arrived. Called within `gateway.handle` before anything else, so that the host's async context is active.
   * Returns what listens to this request; undefined to ignore it.
   */
  call?(call: ObservedCall): CallListener | undefined
  /** A call to a vendor for a video task, outside of any request. Returns what listens to it; undefined to ignore it. */
  attempt?(attempt: ObservedAttempt): AttemptListener | undefined
  /** A request to a model, or a video task, has ended. `costs`: absent if it is not known what it cost the host. */
  receipt?(receipt: Receipt, costs?: CallCosts): void
  /** The breaker of a deployment has changed its state. */
  breaker?(change: BreakerChange): void
  /** A call to a store has failed or timed out. */
  store?(failure: StoreFailure): void
  /** A record was dropped because its queue was full or the gateway was closed. */
  dropped?(queue: QueueName): void
  /** A video task was created, has ended, or needs attention. */
  task?(change: TaskChange): void
  /** `gateway.close` ends. What was kept in order to be passed on together has to be passed on now. */
  flush?(): void
}

/** A request in progress. The fields that are undefined at first are set as soon as they are known. */
export interface ObservedCall {
  /** The request id, as in `x-request-id`. */
  readonly id: string
  /** The request. Its headers and body contain secrets. */
  readonly exchange: Exchange
  /** The endpoint, such as `chat.completions`. Undefined if the path or the method is unknown. */
  readonly endpoint: string | undefined
  /** When the request arrived. Milliseconds since the epoch. */
  readonly startedAt: number
  /** Who sent the request, once it is authenticated. */
  readonly caller: Caller | undefined
  /** The request to a model, once its body was read. */
  readonly request: ObservedRequest | undefined
  /** The model, once it was found. */
  readonly model: ObservedModel | undefined
}

/** The model of a request, as far as observers need it. */
export interface ObservedModel {
  /** The name that clients use. */
  readonly id: string
  /** The ways to serve the model. */
  readonly deployments: readonly {
    /** Whether the client chose the vendor's name of the model, which is then any text. */
    readonly open?: boolean
  }[]
}

/** A request to a model, as the client sent it. */
export interface ObservedRequest {
  /** The model name that the client sent: any text. */
  readonly model: string
  /** Whether the client requested a stream. */
  readonly stream: boolean
  /** True above 256 KiB: a field can then take long to parse. */
  readonly large?: boolean | undefined
  /** Returns one top-level field of the request. Null once the response has begun, if the request was let go of. */
  readonly field: (name: string) => unknown
}

/** Listens to one request. */
export interface CallListener {
  /** The W3C `traceparent` of the request. It is stored with a video task that the request creates. */
  readonly traceparent?: string | undefined
  /** Calls `work`, which handles the request, so that a context of this listener is active in it. Must call it once. */
  within?<T>(work: () => T): T
  /** An attempt at a deployment begins. Returns what listens to it; undefined to ignore it. */
  attempt?(attempt: ObservedAttempt): AttemptListener | undefined
  /** The request concerns a video task. */
  task?(task: ObservedTask): void
  /** A piece of a streamed response is about to be written to the client. */
  piece?(): void
  /** The request has ended. Called once. */
  ended?(end: CallEnd): void
}

/** A video task, for a trace. */
export interface ObservedTask {
  /** The id of the task. */
  readonly id: string
  /** The `traceparent` of the request that created the task, in this or another process. Absent if it was not traced. */
  readonly traceparent?: string | undefined
}

/** What a request to a vendor is for. `call`: a request to a model. The others are steps of a video task. */
export type AttemptStep = 'call' | 'submit' | 'check' | 'lookup' | 'cancel'

/** An attempt at a deployment, or a step of a video task at its vendor. */
export interface ObservedAttempt {
  /** The id of the request, as in `x-request-id`; outside of a request, the id of the task. */
  readonly id: string
  /** The endpoint, such as `chat.completions`, or `videos`. */
  readonly endpoint: string
  /** What the attempt is for. */
  readonly step: AttemptStep
  /** The model name that the client used. */
  readonly model: string
  /** The name of the provider. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly providerModel: string
  /** Whether the client chose the vendor's model name, so that both names may be any text. */
  readonly openModel: boolean
  /** The origin of the vendor's API, such as `https://api.openai.com`. Absent if the provider does not declare it. */
  readonly origin?: string | undefined
  /** The request to the model. Absent for the steps of video tasks. */
  readonly request?: ObservedRequest | undefined
  /** The video task. */
  readonly task?: ObservedTask | undefined
}

/** Listens to one attempt. */
export interface AttemptListener {
  /** Headers to add to the requests to the vendor, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Calls `work`, which calls the provider, so that a context of this listener is active in it. Must call it once. */
  within?<T>(work: () => T): T
  /** The first content of a streamed response, or the whole response, has arrived. No other attempt follows. */
  begun?(): void
  /** The attempt has ended: one that has begun, when its response has ended. Called once. */
  ended?(end: AttemptResult): void
}

/** How an attempt ended. */
export interface AttemptResult {
  /**
   * `succeeded`: the response has ended, or the client has disconnected from it. `rejected`: the vendor rejected the request.
   * `failed`: the deployment failed, before its response or in the middle of it. `aborted`: the client disconnected, or a
   * timeout passed, before the response.
   */
  readonly outcome: 'succeeded' | 'rejected' | 'failed' | 'aborted'
  /** Milliseconds from the start of the attempt. */
  readonly ms: number
  /** The HTTP status of the vendor's error response, if there was one. */
  readonly status?: number | undefined
  /** Whose fault it was. Absent if it succeeded. */
  readonly fault?: Fault | undefined
  /** Why the attempt did not succeed. Its `cause` may contain internals. */
  readonly error?: unknown
  /** The receipt of the request whose last attempt this was. */
  readonly receipt?: Receipt | undefined
  /** What the response of a text model says of itself, if it was complete and the gateway has read that. */
  readonly response?: AnsweredResponse | undefined
}

/** How a request ended. */
export interface CallEnd {
  /** `completed`: the response was sent completely. `cancelled`: the client disconnected, or its key ended. */
  readonly outcome: 'completed' | 'failed' | 'cancelled'
  /** The HTTP status of the response. 499 if the client disconnected before there was one. */
  readonly status: number
  /** Milliseconds from the arrival of the request. */
  readonly ms: number
  /** Whose fault it was. Absent if the request was completed. */
  readonly fault?: Fault | undefined
  /** The error that the client got. Its `cause` may contain internals. */
  readonly error?: GatewayError | undefined
  /** The receipt of a request to a model. */
  readonly receipt?: Receipt | undefined
  /** What the request cost the host. Absent if that is not known, or without a receipt. */
  readonly costs?: CallCosts | undefined
}

/** What a request cost the host, as decimal strings with at most nine places. Not for customers: receipts do not have it. */
export interface CallCosts {
  /** What was spent at vendors: by all attempts whose usage is known, whether or not they are charged. */
  readonly vendorCost: string
  /** What was charged, less `vendorCost`. */
  readonly margin: string
  /** The currency of the amounts. Absent without `billing` and `prices`. */
  readonly currency?: string
}

/** A failed call to a store. */
export interface StoreFailure {
  /** Such as `the ledger`. */
  readonly store: string
  /** Why the call failed. It may contain internals. */
  readonly error: unknown
}

/** A change of a video task. */
export interface TaskChange extends ObservedTask {
  /** See `TaskEvent.type`. */
  readonly type: 'created' | 'completed' | 'failed' | 'reconcile'
  /** See `TaskEvent.reason`. */
  readonly reason?: 'submission_unknown' | 'orphan' | 'late_result'
  /** The model name that the client used. */
  readonly model: string
  /** The name of the provider. Absent until one was chosen. */
  readonly provider?: string
  /** The code of a failed task's error. */
  readonly code?: string
}
