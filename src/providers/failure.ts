/** What a provider throws: an error for the caller, and whether another try can help. */
import { GatewayError, type ErrorCode, type ErrorDetails } from '../errors.ts'

/** `same`: the same deployment may do better; `next`: only another one; `never`: the request itself is at fault. */
export type RetryAdvice = 'same' | 'next' | 'never'

export interface ProviderFailure extends ErrorDetails {
  readonly retry: RetryAdvice
  /** How long the vendor asks to be left alone, in milliseconds. */
  readonly vendorWaitMs?: number | undefined
}

export class ProviderError extends GatewayError {
  readonly retry: RetryAdvice
  readonly vendorWaitMs: number | undefined

  constructor(code: ErrorCode, failure: ProviderFailure) {
    super(code, failure)
    this.retry = failure.retry
    this.vendorWaitMs = failure.vendorWaitMs
  }
}

/** The vendor cannot be reached, does not answer as it should, or refuses us: 503 for the caller. */
export function unavailable(retry: RetryAdvice, cause: unknown, vendorWaitMs?: number): ProviderError {
  return new ProviderError('service_unavailable', { retry, cause, vendorWaitMs, retryAfterMs: vendorWaitMs ?? 1_000 })
}
