import { GatewayError } from '../errors.ts'
import { pause } from '../http/deadline.ts'
import type { Deployment } from '../models/contract.ts'
import type { AttemptEvent } from '../observing/observe.ts'
import type { ProviderError, RetryAdvice } from '../providers/failure.ts'
import type { Breaker } from './breaker.ts'

/** How failed attempts are retried before the first byte of a response. */
export interface RetryOptions {
  /** Maximum number of attempts at one deployment. Default 2. */
  readonly maxAttempts?: number
  /** Milliseconds before the second attempt; doubles for each further one, with ± 50 % jitter. Default 250. */
  readonly backoffMs?: number
  /**
   * Maximum milliseconds between two attempts. If a vendor asks for a longer wait, the next deployment is tried, or the
   * request fails. Default 2,000.
   */
  readonly maxWaitMs?: number
}

/** How an attempt ended. */
export type AttemptEnd = Pick<AttemptEvent, 'outcome' | 'ms' | 'status' | 'error'>

export interface Performance<T> {
  readonly candidates: readonly Deployment[]
  readonly attempt: (deployment: Deployment) => Promise<T>
  readonly signal: AbortSignal
  readonly breaker: Breaker
  readonly retry: RetryOptions
  readonly random: () => number
  /** Called at the end of each attempt. */
  readonly ended?: (deployment: Deployment, end: AttemptEnd) => void
  /** Whether no further attempt may follow a failure, regardless of its retry advice. */
  readonly final?: (failure: unknown) => boolean
}

/**
 * Tries the deployments of a model until one succeeds. Throws the last failure if none does, or the signal's reason once
 * it is aborted.
 */
export async function perform<T>(performance: Performance<T>): Promise<T> {
  const { candidates, attempt, signal, breaker, random } = performance
  const { maxAttempts = 2, backoffMs = 250, maxWaitMs = 2_000 } = performance.retry
  let failure: unknown
  let lasting = true
  for (const deployment of breaker.usable(candidates)) {
    breaker.trying(deployment)
    for (let tried = 1; ; tried++) {
      const begun = globalThis.performance.now()
      const end = (outcome: AttemptEnd['outcome'], error?: unknown) => {
        const { vendorStatus, status: clients } = Object(error) as Partial<ProviderError>
        const status = vendorStatus ?? (outcome === 'rejected' ? clients : undefined)
        const ms = globalThis.performance.now() - begun
        performance.ended?.(deployment, {
          outcome,
          ms,
          ...(status !== undefined && { status }),
          ...(error !== undefined && { error }),
        })
      }
      try {
        const answer = await attempt(deployment)
        breaker.succeeded(deployment)
        end('succeeded')
        return answer
      } catch (error) {
        failure = error
        lasting &&= (error as Partial<ProviderError> | undefined)?.lasting === true
      }
      if (signal.aborted) {
        end('aborted', failure)
        throw signal.reason
      }
      const advice = adviceOf(failure)
      if (advice === 'never') {
        // The vendor rejected this request, so the deployment itself works.
        breaker.succeeded(deployment)
        end('rejected', failure)
        throw failure
      }
      breaker.failed(deployment)
      end('failed', failure)
      if (performance.final?.(failure) === true) throw failure
      if (advice === 'next' || tried >= maxAttempts) break
      const backoff = backoffMs * 2 ** (tried - 1) * (0.5 + random())
      const wait = vendorWaitIn(failure) ?? Math.min(backoff, maxWaitMs)
      if (wait > maxWaitMs) break
      await pause(Math.max(wait, 1), signal)
      if (signal.aborted) throw signal.reason
    }
  }
  throw lasting ? withoutRetry(failure) : failure
}

/** An unknown error may be a fault in the provider's code: another deployment may succeed, a retry hardly. */
function adviceOf(error: unknown): RetryAdvice {
  if (!GatewayError.is(error)) return 'next'
  return (error as Partial<ProviderError>).retry ?? 'never'
}

/** Every deployment reported that it does not support the request, so the client is told not to retry. */
function withoutRetry(failure: unknown): GatewayError {
  const { code, message, cause, headers } = GatewayError.from(failure)
  return new GatewayError(code, { message, cause, headers, shouldRetry: false })
}

function vendorWaitIn(error: unknown): number | undefined {
  return (error as Partial<ProviderError> | undefined)?.vendorWaitMs
}
