/** The errors that providers throw, with what the gateway needs for its decision about a retry. */
import { GatewayError, type ErrorCode, type ErrorDetails, type Fault } from '../errors.ts'
import type { Usage } from '../wire/usage.ts'

/**
 * Which deployment can be expected to succeed after a failure: `same`, the one that failed; `next`, only another one;
 * `never`, none, because the request itself is invalid; `skip`, only another one, but this one works: it cannot do what the
 * request asks.
 */
export type RetryAdvice = 'same' | 'next' | 'never' | 'skip'

/** What a vendor bills for a failed attempt. */
export interface Billed {
  /** As the vendor reported it. Undefined: what was reported in chunks before, otherwise an estimate. */
  readonly usage?: Usage | undefined
  /** Bytes of the answer that were read: what an estimate is based on, at most what was held. */
  readonly bytes?: number
}

/** Details of a `ProviderError`. */
export interface ProviderFailure extends ErrorDetails {
  /** Which deployment the gateway should try next, if any. */
  readonly retry: RetryAdvice
  /**
   * How long the vendor wants the gateway to wait, in milliseconds; clients are told to wait as long, unless `retryAfterMs`
   * says otherwise. Default: it did not say.
   */
  readonly vendorWaitMs?: number | undefined
  /** False only if the vendor certainly did no work: it never received the request, or rejected it. Default true. */
  readonly begun?: boolean | undefined
  /** HTTP status of the vendor's response, if there was one. */
  readonly vendorStatus?: number | undefined
  /** True if the vendor's error text calls the request unsupported, although its status suggests a retry. Default false. */
  readonly lasting?: boolean | undefined
  /**
   * Set if the vendor bills the attempt although it failed: the model has answered, and the answer is of no use. The client
   * is charged for it, and the request is not repeated. Default: the attempt is free.
   */
  readonly billed?: Billed | undefined
}

/**
 * A failed attempt at a vendor: the error for the client, and what the gateway needs to decide about a retry.
 * `retrySame` and `tryNext` create the common ones.
 *
 * @example
 * throw new ProviderError('rate_limit_exceeded', { retry: 'same', vendorWaitMs: 5_000, begun: false })
 */
export class ProviderError extends GatewayError {
  /** See `ProviderFailure.retry`. */
  readonly retry: RetryAdvice
  /** See `ProviderFailure.vendorWaitMs`. */
  readonly vendorWaitMs: number | undefined
  /** See `ProviderFailure.begun`. */
  readonly begun: boolean
  /** See `ProviderFailure.vendorStatus`. */
  readonly vendorStatus: number | undefined
  /** See `ProviderFailure.lasting`. */
  readonly lasting: boolean
  /** See `ProviderFailure.billed`. */
  readonly billed: Billed | undefined

  constructor(code: ErrorCode, failure: ProviderFailure) {
    const fault = failure.fault ?? faultFor(code, failure.vendorStatus)
    // Each retry of the client would be charged like this attempt.
    const { retryAfterMs = failure.vendorWaitMs } = failure
    super(code, { ...failure, retryAfterMs, ...(failure.billed && { shouldRetry: false }), fault })
    this.retry = failure.retry
    this.vendorWaitMs = failure.vendorWaitMs
    this.begun = failure.begun ?? true
    this.vendorStatus = failure.vendorStatus
    this.lasting = failure.lasting ?? false
    this.billed = failure.billed
  }

  /** The same error with other details. */
  with(details: Partial<ProviderFailure>): ProviderError {
    const { code, message, param, cause, headers, fault, shouldRetry, retryAfterMs } = this
    const { retry, vendorWaitMs, begun, vendorStatus, lasting } = this
    const given = { message, param: param ?? undefined, cause, headers, fault, shouldRetry, retryAfterMs }
    const own = { retry, vendorWaitMs, begun, vendorStatus, lasting, billed: this.billed }
    return new ProviderError(code, { ...given, ...own, ...details })
  }
}

/** The error of an attempt that the vendor bills all the same, with its usage; the same error if it reported none. */
export function billed<E>(error: E, usage: Usage | undefined): E | ProviderError {
  return error instanceof ProviderError && usage !== undefined ? error.with({ billed: { usage } }) : error
}

/** Whose fault a failed attempt was. Undefined: what the code says. */
function faultFor(code: ErrorCode, vendorStatus: number | undefined): Fault | undefined {
  if (code === 'rate_limit_exceeded' || vendorStatus === 429) return 'provider_rate_limit'
  if (code !== 'service_unavailable' && code !== 'server_error') return undefined
  if (vendorStatus === undefined) return 'provider_error'
  return vendorStatus < 500 && vendorStatus !== 408 ? 'provider_rejected' : 'provider_unavailable'
}

type UnavailableDetails = Omit<ProviderFailure, 'retry' | 'cause'>

/**
 * An error for a temporary failure: the gateway may retry the same deployment, and the client gets a 503 if no attempt
 * succeeds. `cause` is for the host's logs and never sent.
 */
export function retrySame(cause: unknown, details?: UnavailableDetails): ProviderError {
  return unavailable('same', cause, details)
}

/**
 * A 503 for a response that cannot be read, lacks what was asked for, or broke off. `what` is for the host's logs and never
 * sent. `retry` default: `same`.
 */
export function unreadable(what: string, retry: RetryAdvice = 'same'): ProviderError {
  return unavailable(retry, new Error(what), { fault: 'provider_invalid_response' })
}

/** A 503 for a complete answer that is of no use because of what the model wrote. It is charged, and not asked for again. */
export function useless(what: string, usage?: Usage): ProviderError {
  return unavailable('never', new Error(what), { fault: 'provider_invalid_response', billed: { usage } })
}

/** A 503 for an answer that is larger than what is read. Another deployment would bill it too, so it is not asked for again. */
export function oversized(what: string, bytes: number): ProviderError {
  return unavailable('never', new Error(`the vendor's response has more than ${what}`), {
    fault: 'provider_invalid_response',
    billed: { bytes },
  })
}

/**
 * An error for a failure that another deployment may not have: the gateway tries the next one, and the client gets a 503
 * if no attempt succeeds. `cause` is for the host's logs and never sent.
 */
export function tryNext(cause: unknown, details?: UnavailableDetails): ProviderError {
  return unavailable('next', cause, details)
}

/** A 503: the vendor is unreachable, sends an invalid response, or rejects our credentials. */
export function unavailable(retry: RetryAdvice, cause: unknown, details: UnavailableDetails = {}): ProviderError {
  const retryAfterMs = details.vendorWaitMs ?? 1_000
  return new ProviderError('service_unavailable', { retryAfterMs, ...details, retry, cause })
}

/** Connection errors that are often gone at the next attempt: closed while idle, reset, the vendor restarting. */
const transient = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'EAI_AGAIN'])

/** The provider was closed. */
const closed = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED'])
const closedAdvice =
  '. Its provider was closed by gateway.close(): if it belongs to two gateways, make one for each of them'

/**
 * A 503: the connection could not be opened, or it broke. Only the error's code is kept, because its message can contain
 * host names and bytes of the response.
 */
export function unreachable(error: unknown, begun: boolean): ProviderError {
  const { code } = Object(error) as { code?: unknown }
  const known = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : 'no code'
  const cause = new Error(`the connection to the vendor failed: ${known}${closed.has(known) ? closedAdvice : ''}`)
  return unavailable(transient.has(known) ? 'same' : 'next', cause, { begun, fault: 'provider_unavailable' })
}
