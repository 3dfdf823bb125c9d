/**
 * What may be watched from outside, over `node:diagnostics_channel`, without a hook and at no cost while nobody listens:
 * `modelhatch:receipt` gets every `Receipt`, `modelhatch:failure` every error that was answered with 5xx, with its cause,
 * `modelhatch:attempt` every `FailedAttempt` of a deployment, `modelhatch:task` every `TaskEvent`.
 */
import { channel } from 'node:diagnostics_channel'
import type { Settlement } from '../billing/contract.ts'
import type { Receipt } from '../billing/receipt.ts'

export interface Failure {
  /** The id of the request, as in `x-request-id`. */
  readonly id: string
  /** What was thrown; its `cause` tells what the caller is not told. */
  readonly error: unknown
  /**
   * What an answered call did cost, where the gateway closed before its ledger had taken it. Its hold is kept for a day,
   * as far as the ledger could still be told; `ledger.settle` with this settles it, now or by another process.
   */
  readonly unsettled?: Settlement
}

/** A call of a deployment that came to nothing, even where the next one answered and the caller noticed nothing. */
export interface FailedAttempt {
  /** The id of the request, as in `x-request-id`. */
  readonly id: string
  /** The name the client used. */
  readonly model: string
  readonly provider: string
  /** The provider's name for the model. */
  readonly providerModel: string
  /** Its `cause` says what was wrong, such as `the vendor answered 401`. */
  readonly error: unknown
}

const receipts = channel('modelhatch:receipt')
const failures = channel('modelhatch:failure')
const attempts = channel('modelhatch:attempt')

export function publishReceipt(receipt: Receipt, hook: ((receipt: Receipt) => unknown) | undefined): void {
  if (receipts.hasSubscribers) receipts.publish(receipt)
  if (hook !== undefined) contained(receipt.id, () => hook(receipt))
}

/** A hook is told after the fact: nobody is left whom its failure could be reported to but who listens for failures. */
export function contained(id: string, call: () => unknown): void {
  try {
    const result = call()
    if (result instanceof Promise) result.catch((error: unknown) => publishFailure({ id, error }))
  } catch (error) {
    publishFailure({ id, error })
  }
}

export function publishAttempt(attempt: FailedAttempt): void {
  if (attempts.hasSubscribers) attempts.publish(attempt)
}

export function publishFailure(failure: Failure): void {
  if (failures.hasSubscribers) failures.publish(failure)
}
