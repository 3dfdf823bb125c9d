/** What a provider throws: an error for the caller, and whether another try can help. */
import { GatewayError, type ErrorCode, type ErrorDetails } from '../errors.ts'

/** `same`: the same deployment may do better; `next`: only another one; `never`: the request itself is at fault. */
export type RetryAdvice = 'same' | 'next' | 'never'

export interface ProviderFailure extends ErrorDetails {
  readonly retry: RetryAdvice
  /** How long the vendor asks to be left alone, in milliseconds. */
  readonly vendorWaitMs?: number | undefined
  /** Whether the vendor may have begun to work on the request: not if it never got it, or refused it. Default true. */
  readonly begun?: boolean
  /** HTTP status of the vendor's answer, where there was one. */
  readonly vendorStatus?: number
  /** The vendor says of the request that it is not supported, though with a status that invites another try. */
  readonly lasting?: boolean
}

export class ProviderError extends GatewayError {
  readonly retry: RetryAdvice
  readonly vendorWaitMs: number | undefined
  readonly begun: boolean
  readonly vendorStatus: number | undefined
  readonly lasting: boolean

  constructor(code: ErrorCode, failure: ProviderFailure) {
    super(code, failure)
    this.retry = failure.retry
    this.vendorWaitMs = failure.vendorWaitMs
    this.begun = failure.begun ?? true
    this.vendorStatus = failure.vendorStatus
    this.lasting = failure.lasting ?? false
  }
}

type UnavailableDetails = Omit<ProviderFailure, 'retry' | 'cause'>

/** 503 for the caller; the same deployment may do better at another try. `cause` is for the host's log, never sent. */
export function retrySame(cause: unknown, details?: UnavailableDetails): ProviderError {
  return unavailable('same', cause, details)
}

/** 503 for the caller; only another deployment can do better. `cause` is for the host's log, never sent. */
export function tryNext(cause: unknown, details?: UnavailableDetails): ProviderError {
  return unavailable('next', cause, details)
}

/** The vendor cannot be reached, does not answer as it should, or refuses us: 503 for the caller. */
export function unavailable(retry: RetryAdvice, cause: unknown, details: UnavailableDetails = {}): ProviderError {
  const retryAfterMs = details.vendorWaitMs ?? 1_000
  return new ProviderError('service_unavailable', { retryAfterMs, ...details, retry, cause })
}

/** Failures of a connection that a second try often does not see: closed while idle, reset, a restart of the vendor. */
const passing = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'EAI_AGAIN'])

/**
 * The connection could not be made, or broke. Of the error only its code is kept: the rest names hosts and quotes bytes.
 */
export function unreachable(error: unknown, begun: boolean): ProviderError {
  const { code } = Object(error) as { code?: unknown }
  const known = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : 'no code'
  const cause = new Error(`the connection to the vendor failed: ${known}`)
  return unavailable(passing.has(known) ? 'same' : 'next', cause, { begun })
}
