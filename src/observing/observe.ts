import { channel } from 'node:diagnostics_channel'
import type { Settlement } from '../billing/contract.ts'
import type { Receipt } from '../billing/receipt.ts'

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
export interface AttemptEvent {
  /** The id of the request, as in `x-request-id`. */
  readonly id: string
  /** The model name that the client used. */
  readonly model: string
  /** The name of the provider. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly providerModel: string
  /**
   * `succeeded`: the response has begun. `rejected`: the vendor rejected the request, so no other deployment is tried.
   * `failed`: the deployment failed, and the next attempt may follow. `aborted`: the client disconnected, or a timeout ended
   * the request.
   */
  readonly outcome: 'succeeded' | 'rejected' | 'failed' | 'aborted'
  /** Milliseconds from the start of the attempt to its outcome. */
  readonly ms: number
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

/** Reports to the channels of the process and the hooks of one gateway. No hook can make a request fail. */
export class Observer {
  readonly #hooks: Watching

  constructor(hooks: Watching = {}) {
    this.#hooks = hooks
  }

  receipt(receipt: Receipt): void {
    if (receipts.hasSubscribers) receipts.publish(receipt)
    this.call(receipt.id, this.#hooks.receipt, receipt)
  }

  attempt(attempt: AttemptEvent): void {
    if (attempts.hasSubscribers) attempts.publish(attempt)
    this.call(attempt.id, this.#hooks.attempt, attempt)
  }

  failure(failure: Failure): void {
    if (failures.hasSubscribers) failures.publish(failure)
    contained(this.#hooks.failure, failure, (error) => {
      // Not to the hook that has just failed.
      if (failures.hasSubscribers) failures.publish({ id: failure.id, error })
    })
  }

  /** Calls a hook. An exception in it is reported as a failure. */
  call<T>(id: string, hook: ((message: T) => unknown) | undefined, message: T): void {
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
