import { channel } from 'node:diagnostics_channel'
import type { AttemptRecord } from '../money/attempt-log.ts'
import type { Settlement } from '../money/ledger/contract.ts'
import type { Receipt } from '../money/receipt.ts'
import type { Guard } from '../records/guard.ts'
import type { ConfigWarning } from '../records/warning.ts'
import type { CallCosts, ObservedAttempt, TaskChange, Telemetry } from './contract.ts'
import type { BreakerChange, GatewayState, QueueName } from './gateway-state.ts'
import { FailureLines } from './log-lines.ts'
import type { Logger } from './logger.ts'
import { askAttempt, AttemptWatch, CallWatch, collect, type Arrival } from './watch.ts'

/** An error that the client does not see the cause of. Message of the channel `modelhatch:failure`. */
export interface Failure {
  /** The id of the request, as in `x-request-id`; of a video task, the id of the task. */
  readonly id: string
  /** The error, with its `cause`. Not for clients: it may contain internals. */
  readonly error: unknown
  /**
   * The charge of a response that the ledger had not accepted when the gateway was closed. Its hold is kept for a day:
   * `ledger.settle` with this value charges it, now or from another process.
   */
  readonly unsettled?: Settlement
}

/** One attempt at a deployment. Message of the channel `modelhatch:attempt`. */
export interface AttemptEvent extends Pick<AttemptRecord, 'provider' | 'providerModel' | 'ms'> {
  /** The id of the request, as in `x-request-id`. */
  readonly id: string
  /** The model name that the client used. */
  readonly model: string
  /**
   * `succeeded`: the response has begun. `rejected`: the vendor rejected the request, so no other deployment is tried.
   * `failed`: the deployment failed, and the next attempt may follow. `aborted`: the client disconnected, or a timeout ended
   * the request. `skipped`: the deployment was not called in its turn; `error` says why.
   */
  readonly outcome: 'succeeded' | 'rejected' | 'failed' | 'aborted' | 'skipped'
  /** The HTTP status of the vendor's error response, if there was one; if `rejected`, the status that the client gets. */
  readonly status?: number
  /** Why the attempt did not succeed. Its `cause` may contain internals. */
  readonly error?: unknown
}

/** The host's hooks, called with the messages of the channels. */
export interface Watching {
  readonly receipt?: (receipt: Receipt) => unknown
  readonly attempt?: (attempt: AttemptEvent) => unknown
  readonly failure?: (failure: Failure) => unknown
}

const receipts = channel('modelhatch:receipt')
const attempts = channel('modelhatch:attempt')
const failures = channel('modelhatch:failure')

/** Reports to the channels of the process, and to the hooks and the telemetry of one gateway. None can make a request fail. */
export class Observer {
  /** Whether requests are observed from their start. */
  readonly watchesCalls: boolean
  /** Whether anything but the log asks what requests cost the host. */
  readonly watchesCosts: boolean
  readonly #hooks: Watching
  readonly #telemetry: readonly Telemetry[]
  /** The guards of stores that have failed at least once. */
  readonly #guards = new Set<Guard>()

  /** The log of failures. */
  readonly #lines: FailureLines | undefined

  /** `logger`: where failures and failed attempts are written. */
  constructor(hooks: Watching = {}, telemetry: readonly Telemetry[] = [], logger?: Logger) {
    this.#hooks = hooks
    this.watchesCosts = telemetry.length > 0
    this.#lines = logger && new FailureLines(logger)
    this.#telemetry = this.#lines === undefined ? telemetry : [...telemetry, this.#lines]
    this.watchesCalls = this.#telemetry.some((each) => each.call !== undefined)
  }

  /** Gives the telemetry access to the state of the gateway. */
  attach(state: () => GatewayState): void {
    for (const each of this.#telemetry) each.attach?.(state)
  }

  /** A request has arrived. Undefined if nothing listens to it. */
  arrived(arrival: Arrival): CallWatch | undefined {
    const watch = new CallWatch(arrival, this)
    return watch.begin(this.#telemetry) ? watch : undefined
  }

  /** A call to a vendor begins outside of any request. Undefined if nothing listens to it. */
  attempt(attempt: ObservedAttempt): AttemptWatch | undefined {
    if (this.#telemetry.length === 0) return undefined
    const reporter = { report: (error: unknown) => this.failure({ id: attempt.id, error }) }
    const listeners = collect(this.#telemetry, askAttempt, attempt, reporter)
    return listeners.length === 0 ? undefined : new AttemptWatch(listeners, reporter)
  }

  receipt(receipt: Receipt, costs?: CallCosts): void {
    if (receipts.hasSubscribers) receipts.publish(receipt)
    this.call(receipt.id, this.#hooks.receipt, receipt)
    if (this.#telemetry.length > 0) this.#tellReceipt(receipt, costs)
  }

  /** A likely mistake in the options. */
  warning({ code, where, message }: ConfigWarning): void {
    this.#lines?.line('warn', 'likely misconfiguration', `${code} ${where}`, { code, where, advice: message })
  }

  breaker(change: BreakerChange): void {
    this.#tell(change.model, (each) => each.breaker?.(change))
  }

  /** A property, so that it can be passed on. */
  readonly storeFailed = (guard: Guard, error: unknown): void => {
    this.#guards.add(guard)
    this.#tell(guard.name, (each) => each.store?.({ store: guard.name, error }))
  }

  /** The stores that are not called at the moment, because several calls in a row have failed. */
  get failingStores(): readonly string[] {
    const open = [...this.#guards].filter((guard) => guard.isOpen)
    return [...new Set(open.map((guard) => guard.name))]
  }

  dropped(queue: QueueName): void {
    this.#tell(queue, (each) => each.dropped?.(queue))
  }

  task(change: TaskChange): void {
    this.#tell(change.id, (each) => each.task?.(change))
  }

  /** Makes the telemetry pass on what it has kept. */
  flush(): void {
    this.#tell('gateway.close', (each) => each.flush?.())
  }

  /** Whether anyone receives attempts. */
  get watchesAttempts(): boolean {
    return attempts.hasSubscribers || this.#hooks.attempt !== undefined
  }

  attemptEnded(attempt: AttemptEvent): void {
    if (attempts.hasSubscribers) attempts.publish(attempt)
    this.call(attempt.id, this.#hooks.attempt, attempt)
  }

  failure(failure: Failure): void {
    this.#lines?.failure(failure.id, failure.error, failure.unsettled !== undefined)
    if (failures.hasSubscribers) failures.publish(failure)
    contained(this.#hooks.failure, failure, (error) => {
      this.#lines?.failure(failure.id, error, false)
      // Not to the hook that has just failed.
      if (failures.hasSubscribers) failures.publish({ id: failure.id, error })
    })
  }

  /** `failure`, as a function that can be passed on. */
  readonly failed = (id: string, error: unknown): void => this.failure({ id, error })

  #tell(id: string, tell: (each: Telemetry) => void): void {
    for (const each of this.#telemetry) {
      try {
        tell(each)
      } catch (error) {
        this.failure({ id, error })
      }
    }
  }

  /** Calls a hook. An exception in it is reported as a failure. */
  call<T>(id: string, hook: ((message: T) => unknown) | undefined, message: T): void {
    if (hook !== undefined) this.#contain(id, hook, message)
  }

  // A closure costs a call of its function an allocation even where it is not made, so those below are on their own.

  #tellReceipt(receipt: Receipt, costs: CallCosts | undefined): void {
    this.#tell(receipt.id, (each) => each.receipt?.(receipt, costs))
  }

  #contain<T>(id: string, hook: (message: T) => unknown, message: T): void {
    contained(hook, message, (error) => this.failure({ id, error }))
  }
}

function contained<T>(hook: ((message: T) => unknown) | undefined, message: T, failed: (error: unknown) => void): void {
  try {
    const result = hook?.(message)
    if (result instanceof Promise) result.catch(failed)
  } catch (error) {
    failed(error)
  }
}
