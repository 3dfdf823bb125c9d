/** Trying the deployments of a model until one answers, before the client has got a first byte. */
import { GatewayError } from '../errors.ts'
import { pause } from '../http/deadline.ts'
import type { Deployment } from '../models/contract.ts'
import type { ProviderError, RetryAdvice } from '../providers/failure.ts'
import type { Breaker } from './breaker.ts'

export interface RetryOptions {
  /** Calls to one deployment at most. Default 2. */
  readonly maxAttempts?: number
  /** Milliseconds before the second call; doubled for each further one, jittered by half. Default 250. */
  readonly backoffMs?: number
  /**
   * The longest wait between two calls. A vendor that asks for more is not asked again: the next deployment is tried, or
   * the client told. Default 2,000.
   */
  readonly maxWaitMs?: number
}

export interface Performance<T> {
  readonly candidates: readonly Deployment[]
  readonly attempt: (deployment: Deployment) => Promise<T>
  readonly signal: AbortSignal
  readonly breaker: Breaker
  readonly retry: RetryOptions
  readonly random: () => number
  /** Told of every failure that counts against a deployment, whatever comes after it. */
  readonly failed?: (deployment: Deployment, failure: unknown) => void
  /** Whether a failure has to be the last one, whatever it advises. */
  readonly final?: (failure: unknown) => boolean
}

/** The first good answer; else the last failure. Once the signal is aborted nothing more is tried: its reason is thrown. */
export async function perform<T>(performance: Performance<T>): Promise<T> {
  const { candidates, attempt, signal, breaker, random } = performance
  const { maxAttempts = 2, backoffMs = 250, maxWaitMs = 2_000 } = performance.retry
  let failure: unknown
  let lasting = true
  for (const deployment of breaker.usable(candidates)) {
    breaker.trying(deployment)
    for (let tried = 1; ; tried++) {
      try {
        const answer = await attempt(deployment)
        breaker.succeeded(deployment)
        return answer
      } catch (error) {
        failure = error
        lasting &&= (error as Partial<ProviderError> | undefined)?.lasting === true
      }
      if (signal.aborted) throw signal.reason
      const advice = adviceOf(failure)
      if (advice === 'never') {
        // It refused this request: it works.
        breaker.succeeded(deployment)
        throw failure
      }
      breaker.failed(deployment)
      performance.failed?.(deployment, failure)
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

/** An error of unknown kind may be the provider's own: another one may do better, the same one hardly. */
function adviceOf(error: unknown): RetryAdvice {
  if (!GatewayError.is(error)) return 'next'
  return (error as Partial<ProviderError>).retry ?? 'never'
}

/** Every answer was that this is not supported: clients that try again for ever are told not to. */
function withoutRetry(failure: unknown): GatewayError {
  const { code, message, cause, headers } = GatewayError.from(failure)
  return new GatewayError(code, { message, cause, headers, shouldRetry: false })
}

function vendorWaitIn(error: unknown): number | undefined {
  return (error as Partial<ProviderError> | undefined)?.vendorWaitMs
}
