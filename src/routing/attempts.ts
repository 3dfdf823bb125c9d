import { GatewayError } from '../errors.ts'
import type { AbortListener, Cancellation } from '../http/cancellation.ts'
import { TimeLimit, type Deadline, type TimeLimited } from '../http/time-limit.ts'
import type { Deployment } from '../models/contract.ts'
import type { FallbackReason } from '../models/route-entry.ts'
import type { AttemptEnd } from '../money/attempt-log.ts'
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

/** What all requests have in common. */
export interface AttemptSettings {
  readonly breaker: Breaker
  readonly retry: RetryOptions
  readonly random: () => number
  /** For all attempts at one request together. */
  readonly limit: TimeLimit
}

/** One request to try. */
export interface Trial<T> {
  readonly candidates: readonly Deployment[]
  readonly cancellation: Cancellation
  /** Calls a deployment. May throw or reject. */
  attempt(deployment: Deployment): Promise<T>
  /**
   * Called when an attempt has failed, but not if it was cancelled or the vendor rejected the request. `gaveUp`: it took too
   * long.
   */
  failed?(gaveUp: boolean): void
  /** Whether the attempt has not yet called the deployment. */
  readonly isWaiting?: boolean
  /** Whether no further attempt may follow a failure, regardless of its retry advice. */
  isFinal?(failure: unknown): boolean
  /** The error when the time limit has passed. */
  timeout?(): GatewayError
  /** Releases an answer that arrived after the request had ended. Must not throw. */
  discard?(answer: T): void
  /** Whether `ended` is called at the end of each attempt. */
  readonly isWatched?: boolean
  ended?(deployment: Deployment, end: AttemptEnd): void
}

/**
 * Tries the deployments of a model until one succeeds. Fails with the last failure if none does, with the reason once
 * the request is cancelled, with a 503 when the time limit has passed. Starts at once; call `answer` in the same turn.
 */
export class Attempts<T> implements AbortListener, TimeLimited {
  readonly #settings: AttemptSettings
  readonly #trial: Trial<T>
  readonly #deployments: readonly Deployment[]
  #place = 0
  /** The places that were tried before. */
  #done: readonly number[] = none
  /** Attempts at the current deployment. */
  #tried = 0
  #isTrying = false
  #begunAt = 0
  /** Whether every failure so far was lasting. */
  #lasting = true
  #outcome: 'open' | 'succeeded' | 'failed' = 'open'
  /** The answer, or the error. */
  #result: unknown
  #deadline: Deadline | undefined
  #patience: Deadline | undefined
  #pause: NodeJS.Timeout | undefined
  #resolve: ((answer: T) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  constructor(settings: AttemptSettings, trial: Trial<T>) {
    this.#settings = settings
    this.#trial = trial
    this.#deployments = settings.breaker.usable(trial.candidates)
    this.#place = firstOf(this.#deployments)
    const { cancellation } = trial
    if (cancellation.aborted) this.#end('failed', cancellation.reason)
    else {
      cancellation.addEventListener('abort', this)
      this.#deadline = settings.limit.start(this)
      this.#try()
    }
  }

  /** The answer. */
  answer(): Promise<T> {
    return new Promise<T>((resolve, reject) => this.#tell(resolve, reject))
  }

  /** The answer; undefined if it takes longer than a time limit. Then call `answer` for it. */
  answerWithin(limit: TimeLimit): Promise<T | undefined> {
    return new Promise<T | undefined>((resolve, reject) => {
      this.#tell(resolve, reject)
      if (this.#outcome === 'open') this.#patience = limit.start({ timedOut: () => resolve(undefined) })
    })
  }

  /** The request was cancelled. */
  handleEvent(): void {
    this.#stop(this.#trial.cancellation.reason)
  }

  timedOut(): void {
    // One that began late had too little time to be judged by.
    const hangs = this.#isTrying && 2 * (performance.now() - this.#begunAt) >= this.#settings.limit.ms
    if (hangs && this.#trial.isWaiting !== true) {
      this.#settings.breaker.failed(this.#deployment)
      this.#trial.failed?.(true)
    }
    this.#stop(this.#trial.timeout?.() ?? new GatewayError('service_unavailable', { retryAfterMs: 1_000 }))
  }

  #tell(resolve: (answer: T) => void, reject: (error: unknown) => void): void {
    if (this.#outcome === 'succeeded') resolve(this.#result as T)
    else if (this.#outcome === 'failed') reject(this.#result)
    else {
      this.#resolve = resolve
      this.#reject = reject
    }
  }

  #try(): void {
    const deployment = this.#deployments[this.#place]
    if (deployment === undefined) {
      const isLasting = this.#lasting && adviceOf(this.#result) !== 'skip'
      return this.#end('failed', isLasting ? withoutRetry(this.#result) : this.#result)
    }
    if (this.#tried++ === 0) this.#settings.breaker.trying(deployment)
    this.#isTrying = true
    this.#begunAt = performance.now()
    try {
      this.#trial.attempt(deployment).then(this.#succeeded, this.#failed)
    } catch (error) {
      this.#failed(error)
    }
  }

  readonly #succeeded = (answer: T): void => {
    if (this.#outcome !== 'open') return this.#trial.discard?.(answer)
    this.#settings.breaker.succeeded(this.#deployment)
    this.#report('succeeded')
    this.#end('succeeded', answer)
  }

  readonly #failed = (failure: unknown): void => {
    if (this.#outcome !== 'open') return
    try {
      this.#goOn(failure)
    } catch (thrown) {
      // Providers can throw anything, even objects that throw when they are read.
      this.#end('failed', thrown)
    }
  }

  /** Decides what follows a failure. */
  #goOn(failure: unknown): void {
    const { breaker, retry } = this.#settings
    const { maxAttempts = 2, maxWaitMs = 2_000 } = retry
    const advice = adviceOf(failure)
    if (advice === 'skip') return this.#skip(failure)
    const reason = reasonOf(failure)
    this.#result = failure
    this.#lasting &&= (failure as Partial<ProviderError> | undefined)?.lasting === true
    if (advice === 'never') {
      // The vendor rejected this request, so the deployment itself works.
      breaker.succeeded(this.#deployment)
      this.#report('rejected', failure)
      if (reason === 'unavailable' || this.#trial.isFinal?.(failure) === true) return this.#end('failed', failure)
      return this.#goTo(reason)
    }
    breaker.failed(this.#deployment)
    this.#trial.failed?.(false)
    this.#report('failed', failure)
    if (this.#trial.isFinal?.(failure) === true) return this.#end('failed', failure)
    const waitMs = advice === 'next' || this.#tried >= maxAttempts ? Infinity : this.#waitMs(failure)
    if (waitMs > maxWaitMs) return this.#goTo(reason)
    this.#pause = setTimeout(() => this.#try(), Math.max(waitMs, 1))
    this.#pause.unref()
  }

  /** The client gets this failure only if no deployment was able to try. */
  #skip(failure: unknown): void {
    this.#result ??= failure
    this.#report('rejected', failure)
    this.#goTo('unavailable')
  }

  /** Tries the next deployment that serves after such a failure. */
  #goTo(reason: FallbackReason): void {
    const { contextWindow } = this.#deployment
    this.#done = [...this.#done, this.#place]
    this.#tried = 0
    this.#place = this.#deployments.findIndex(
      (each, place) => !this.#done.includes(place) && servesAfter(reason, each, contextWindow),
    )
    this.#try()
  }

  /** As the vendor asks, otherwise the backoff. */
  #waitMs(failure: unknown): number {
    const { retry, random } = this.#settings
    const { backoffMs = 250, maxWaitMs = 2_000 } = retry
    const asked = (failure as Partial<ProviderError> | undefined)?.vendorWaitMs
    return asked ?? Math.min(backoffMs * 2 ** (this.#tried - 1) * (0.5 + random()), maxWaitMs)
  }

  /** Ends the request before its attempt has ended. */
  #stop(reason: unknown): void {
    if (this.#isTrying) this.#report('aborted', reason)
    this.#end('failed', reason)
  }

  #report(outcome: AttemptEnd['outcome'], error?: unknown): void {
    this.#isTrying = false
    if (this.#trial.isWatched !== true) return
    const ms = performance.now() - this.#begunAt
    this.#trial.ended?.(this.#deployment, error === undefined ? { outcome, ms } : failedEnd(outcome, ms, error))
  }

  #end(outcome: 'succeeded' | 'failed', result: unknown): void {
    this.#outcome = outcome
    this.#result = result
    this.#trial.cancellation.removeEventListener('abort', this)
    TimeLimit.stop(this.#deadline)
    TimeLimit.stop(this.#patience)
    clearTimeout(this.#pause)
    if (outcome === 'succeeded') this.#resolve?.(result as T)
    else this.#reject?.(result)
  }

  get #deployment(): Deployment {
    return this.#deployments[this.#place] as Deployment
  }
}

const none: readonly never[] = []

function failedEnd(outcome: AttemptEnd['outcome'], ms: number, error: unknown): AttemptEnd {
  const { vendorStatus, status: clients } = Object(error) as Partial<ProviderError>
  const status = vendorStatus ?? (outcome === 'rejected' ? clients : undefined)
  return { outcome, ms, ...(status !== undefined && { status }), error }
}

/** Deployments for certain failures come after those. */
function firstOf(deployments: readonly Deployment[]): number {
  return Math.max(
    0,
    deployments.findIndex(({ when }) => when === undefined),
  )
}

function reasonOf(failure: unknown): FallbackReason {
  const code = GatewayError.is(failure) ? failure.code : undefined
  if (code === 'context_length_exceeded') return 'context'
  return code === 'content_policy_violation' ? 'policy' : 'unavailable'
}

/** `tooSmall`: the window of the deployment that the request was too long for. */
export function servesAfter(
  reason: FallbackReason,
  { when, contextWindow }: Deployment,
  tooSmall: number | undefined,
): boolean {
  if (when?.includes(reason) === true) return true
  if (reason === 'unavailable') return when === undefined
  return reason === 'context' && tooSmall !== undefined && contextWindow !== undefined && contextWindow > tooSmall
}

/** Whether another deployment may do what failed here. */
export function mayWorkElsewhere(failure: unknown): boolean {
  return adviceOf(failure) !== 'never'
}

/** An unknown error may be a fault in the provider's code: another deployment may succeed, a retry hardly. */
function adviceOf(error: unknown): RetryAdvice {
  if (!GatewayError.is(error)) return 'next'
  return (error as Partial<ProviderError>).retry ?? 'never'
}

/** Every deployment reported that it does not support the request, so the client is told not to retry. */
function withoutRetry(failure: unknown): GatewayError {
  const { code, message, cause, headers, fault } = GatewayError.from(failure)
  return new GatewayError(code, { message, cause, headers, fault, shouldRetry: false })
}
