/** Trying the deployments of a model until one answers, before the client has got a first byte. */
import { GatewayError } from '../errors.ts'
import type { Deployment } from '../models/contract.ts'
import { ProviderError } from '../providers/failure.ts'
import type { Breaker } from './breaker.ts'

export interface RetryOptions {
  /** Calls to one deployment at most. Default 2. */
  readonly tries?: number
  /** Milliseconds before the second call; doubled for each further one, jittered by half. Default 250. */
  readonly backoffMs?: number
  /** The longest time a vendor may ask us to wait; beyond it the next deployment is tried, or the client told. Default 2,000. */
  readonly longestWaitMs?: number
}

export interface Performance<T> {
  readonly candidates: readonly Deployment[]
  readonly attempt: (deployment: Deployment) => Promise<T>
  readonly signal: AbortSignal
  readonly breaker: Breaker
  readonly retry: RetryOptions
  readonly random: () => number
}

/** The first good answer; else the last failure. Nothing is tried again after the client has gone. */
export async function perform<T>(performance: Performance<T>): Promise<T> {
  const { candidates, attempt, signal, breaker, random } = performance
  const { tries = 2, backoffMs = 250, longestWaitMs = 2_000 } = performance.retry
  let failure: unknown
  for (const deployment of breaker.usable(candidates)) {
    for (let tried = 1; tried <= tries; tried++) {
      try {
        const answer = await attempt(deployment)
        breaker.succeeded(deployment)
        return answer
      } catch (error) {
        failure = error
      }
      if (signal.aborted) throw new GatewayError('client_closed', { cause: failure })
      const advice = adviceOf(failure)
      if (advice === 'never') throw failure
      breaker.failed(deployment)
      if (advice === 'next' || tried === tries) break
      const backoff = backoffMs * 2 ** (tried - 1) * (0.5 + random())
      const wait = (failure instanceof ProviderError ? failure.vendorWaitMs : undefined) ?? backoff
      if (wait > longestWaitMs) break
      await pause(Math.max(wait, 1), signal)
      if (signal.aborted) throw new GatewayError('client_closed', { cause: failure })
    }
  }
  throw failure
}

/** An error of unknown kind may be the provider's own: another one may do better, the same one hardly. */
function adviceOf(error: unknown): ProviderError['retry'] {
  if (error instanceof ProviderError) return error.retry
  return GatewayError.is(error) ? 'never' : 'next'
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    timer.unref()
    signal.addEventListener('abort', done)
  })
}
