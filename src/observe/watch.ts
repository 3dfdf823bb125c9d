/** Passes what happens in one request on to the listeners of `telemetry`. Exists only for requests that have any. */
import type { Caller } from '../callers/contract.ts'
import type { Receipt } from '../money/receipt.ts'
import type { AnsweredResponse } from '../money/tally.ts'
import { GatewayError, type Fault } from '../errors.ts'
import type { Exchange } from '../http/exchange.ts'
import type {
  AttemptListener,
  AttemptResult,
  CallCosts,
  CallEnd,
  CallListener,
  ObservedAttempt,
  ObservedCall,
  ObservedModel,
  ObservedRequest,
  ObservedTask,
  Telemetry,
} from './contract.ts'
import { attemptFaultOf, faultOf } from './fault.ts'

/** What a request is known by when it arrives. */
export interface Arrival extends Pick<ObservedCall, 'id' | 'exchange' | 'endpoint' | 'startedAt'> {
  readonly elapsedMs: () => number
}

/** How a request ends, as the step that ends it knows it. */
export interface CallOutcome extends Pick<CallEnd, 'outcome' | 'error'> {
  /** Default: that of the error; without one, 200. */
  readonly status?: number | undefined
}

/** How an attempt ends, as the step that ends it knows it. */
export type AttemptEnding = Pick<AttemptResult, 'outcome' | 'status' | 'error' | 'receipt' | 'response'>

/** How a request ends that was refused. */
export function refusalOf(thrown: unknown): CallOutcome {
  const error = GatewayError.from(thrown)
  return { outcome: error.code === 'client_closed' ? 'cancelled' : 'failed', error }
}

/** Reports the exceptions of listeners. A method, because a closure would be made for every request. */
export interface Reporter {
  report(error: unknown): void
}

interface FailureSink {
  failure(failure: { readonly id: string; readonly error: unknown }): void
}

/** One request, while it is observed. */
export class CallWatch implements ObservedCall, Reporter {
  readonly id: string
  readonly exchange: Exchange
  readonly endpoint: string | undefined
  readonly startedAt: number
  caller: Caller | undefined
  request: ObservedRequest | undefined
  model: ObservedModel | undefined
  receipt: Receipt | undefined
  #costs: CallCosts | undefined
  /** What the response of the last attempt says of itself. */
  response: AnsweredResponse | undefined
  /** The status of a response whose head was sent before its end. */
  sentStatus: number | undefined
  readonly #elapsedMs: () => number
  readonly #failed: FailureSink
  #listeners: readonly CallListener[] = none
  #last: AttemptWatch | undefined
  #ended = false

  constructor({ id, exchange, endpoint, startedAt, elapsedMs }: Arrival, failed: FailureSink) {
    this.id = id
    this.exchange = exchange
    this.endpoint = endpoint
    this.startedAt = startedAt
    this.#elapsedMs = elapsedMs
    this.#failed = failed
  }

  /** Asks for listeners. False if there is none. */
  begin(telemetry: readonly Telemetry[]): boolean {
    this.#listeners = collect(telemetry, askCall, this, this)
    return this.#listeners.length > 0
  }

  /** What is stored with a video task that the request creates. */
  get traceparent(): string | undefined {
    for (const { traceparent } of this.#listeners) if (traceparent !== undefined) return traceparent
    return undefined
  }

  within<T>(work: () => T): T {
    return nested(this.#listeners, work)
  }

  attempt(attempt: ObservedAttempt): AttemptWatch {
    this.response = undefined
    this.#last = new AttemptWatch(collect(this.#listeners, askAttempt, attempt, this), this)
    return this.#last
  }

  task(task: ObservedTask): void {
    tell(this.#listeners, tellTask, task, this)
  }

  /** The receipt is made; `costs`: what the request cost the host. */
  received(receipt: Receipt, costs: CallCosts | undefined): void {
    this.receipt = receipt
    this.#costs = costs
  }

  /** The response is complete. */
  answered(response: AnsweredResponse): void {
    this.response = response
  }

  piece(): void {
    tell(this.#listeners, tellPiece, undefined, this)
  }

  /** Further calls do nothing. */
  ended({ outcome, error, status }: CallOutcome): void {
    if (this.#ended) return
    this.#ended = true
    const fault = error && this.#faultOf(error)
    const end = {
      outcome,
      status: status ?? this.sentStatus ?? error?.status ?? (outcome === 'cancelled' ? 499 : 200),
      ms: this.#elapsedMs(),
      error,
      fault: fault ?? (outcome === 'cancelled' ? 'caller_disconnected' : undefined),
      receipt: this.receipt,
      costs: this.#costs,
    }
    tell(this.#listeners, tellCallEnd, end, this)
  }

  report(error: unknown): void {
    this.#failed.failure({ id: this.id, error })
  }

  /** The error of a request whose deployments all failed may say less than that of its last attempt. */
  #faultOf(error: GatewayError): Fault {
    const fault = faultOf(error)
    return fault === 'gateway_error' ? (this.#last?.fault ?? fault) : fault
  }
}

/** One attempt, while it is observed. */
export class AttemptWatch {
  /** Whose fault it was that the attempt did not succeed. */
  fault: Fault | undefined
  readonly #reporter: Reporter
  readonly #begunAt = performance.now()
  readonly #listeners: readonly AttemptListener[]
  #ended = false

  constructor(listeners: readonly AttemptListener[], reporter: Reporter) {
    this.#listeners = listeners
    this.#reporter = reporter
  }

  /** To add to the requests to the vendor. */
  get headers(): Readonly<Record<string, string>> | undefined {
    let all: Readonly<Record<string, string>> | undefined
    for (const { headers } of this.#listeners) {
      if (headers !== undefined) all = all === undefined ? headers : { ...all, ...headers }
    }
    return all
  }

  within<T>(work: () => T): T {
    return nested(this.#listeners, work)
  }

  begun(): void {
    tell(this.#listeners, tellBegun, undefined, this.#reporter)
  }

  /** Further calls do nothing. */
  ended(ending: AttemptEnding): void {
    if (this.#ended) return
    this.#ended = true
    const { outcome, error } = ending
    if (outcome !== 'succeeded' && error !== undefined) this.fault = attemptFaultOf(error)
    const { status, receipt, response } = ending
    const end = { outcome, error, status, receipt, response, ms: performance.now() - this.#begunAt, fault: this.fault }
    tell(this.#listeners, tellAttemptEnd, end, this.#reporter)
  }
}

/** What each of several parts returns, without undefined and without the parts that throw. */
export function collect<Part, Subject, Result>(
  parts: readonly Part[],
  ask: (part: Part, subject: Subject) => Result | undefined,
  subject: Subject,
  reporter: Reporter,
): readonly Result[] {
  let results: readonly Result[] = none
  for (const part of parts) {
    try {
      const result = ask(part, subject)
      if (result !== undefined) results = results.length === 0 ? [result] : [...results, result]
    } catch (error) {
      reporter.report(error)
    }
  }
  return results
}

const none: readonly never[] = []

// Named, because a closure for each event of a request would cost more than the event.
export const askAttempt = (each: Telemetry | CallListener, attempt: ObservedAttempt): AttemptListener | undefined =>
  each.attempt?.(attempt)
const askCall = (each: Telemetry, call: ObservedCall) => each.call?.(call)
const tellTask = (each: CallListener, task: ObservedTask) => each.task?.(task)
const tellPiece = (each: CallListener) => each.piece?.()
const tellCallEnd = (each: CallListener, end: CallEnd) => each.ended?.(end)
const tellBegun = (each: AttemptListener) => each.begun?.()
const tellAttemptEnd = (each: AttemptListener, end: AttemptResult) => each.ended?.(end)

function tell<Listener, Message>(
  listeners: readonly Listener[],
  act: (listener: Listener, message: Message) => void,
  message: Message,
  reporter: Reporter,
): void {
  for (const each of listeners) {
    try {
      act(each, message)
    } catch (error) {
      reporter.report(error)
    }
  }
}

function nested<T>(listeners: readonly { within?<U>(work: () => U): U }[], work: () => T): T {
  const [first] = listeners
  if (listeners.length === 1) return first?.within === undefined ? work() : first.within(work)
  let inner = work
  for (const each of listeners) {
    const next = inner
    if (each.within !== undefined) inner = () => each.within?.(next) as T
  }
  return inner()
}
