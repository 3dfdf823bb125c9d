/**
 * What may be watched from outside, over `node:diagnostics_channel`, without a hook and at no cost while nobody listens:
 * `modelhatch:receipt` gets every `Receipt`, `modelhatch:failure` every error that was answered with 5xx, with its cause.
 */
import { channel } from 'node:diagnostics_channel'
import type { Receipt } from './billing/receipt.ts'

export interface Failure {
  /** The id of the request, as in `x-request-id`. */
  readonly id: string
  /** What was thrown; its `cause` tells what the caller is not told. */
  readonly error: unknown
}

const receipts = channel('modelhatch:receipt')
const failures = channel('modelhatch:failure')

export function publishReceipt(receipt: Receipt, hook: ((receipt: Receipt) => unknown) | undefined): void {
  if (receipts.hasSubscribers) receipts.publish(receipt)
  if (hook === undefined) return
  try {
    const result = hook(receipt)
    if (result instanceof Promise) result.catch((error: unknown) => publishFailure({ id: receipt.id, error }))
  } catch (error) {
    // A receipt comes after the answer: nobody is left who could be told.
    publishFailure({ id: receipt.id, error })
  }
}

export function publishFailure(failure: Failure): void {
  if (failures.hasSubscribers) failures.publish(failure)
}
