import { within } from '../../http/deadline.ts'

/** What was asked for, with its end. */
export interface Lasting<T> {
  readonly value: T
  /** Milliseconds since the epoch; undefined: it serves the requests that wait for it, and is not kept. */
  readonly expiresAt: number | undefined
}

/** A value is renewed in the background in this last part of its life, at most in the last fifth. */
const renewedMs = 300_000
/** It is not used in the last seconds, at most in the last tenth. */
const unusedMs = 10_000
/** Between a failure and the next attempt, and between two values that are refused. */
const pauseMs = 1_000
/** For an attempt. */
export const limitMs = 10_000

interface Kept<T> {
  readonly value: T
  readonly renewAt: number
  readonly useUntil: number
}

/** A value that expires, such as a token: kept while it is valid, and renewed once for all requests that need it. */
export class Renewed<T> {
  readonly #source: () => Promise<Lasting<T>>
  #kept: Kept<T> | undefined
  #renewal: Promise<T> | undefined
  #failure: { readonly error: unknown; readonly until: number } | undefined
  #discardedAt = -Infinity

  constructor(source: () => Promise<Lasting<T>>) {
    this.#source = source
  }

  value(): T | Promise<T> {
    const kept = this.#kept
    const now = Date.now()
    if (kept === undefined || kept.useUntil <= now) return this.#renew(now)
    // While the renewal fails, the request has a valid one.
    if (kept.renewAt <= now) this.#renew(now).catch(() => undefined)
    return kept.value
  }

  /**
   * The vendor refused the value before its end. Returns whether the request can be repeated with another one now, which another
   * request may have got already.
   */
  discard(value: T): boolean {
    if (this.#kept?.value !== value) return true
    const now = Date.now()
    if (Math.abs(now - this.#discardedAt) < pauseMs) return false
    this.#discardedAt = now
    this.#kept = undefined
    return true
  }

  #renew(now: number): Promise<T> {
    if (this.#renewal !== undefined) return this.#renewal
    if (this.#failure !== undefined && this.#failure.until > now) return Promise.reject(this.#failure.error)
    this.#renewal = this.#ask().finally(() => (this.#renewal = undefined))
    return this.#renewal
  }

  async #ask(): Promise<T> {
    try {
      const { value, expiresAt } = await within(limitMs, this.#source(), 'the function for credentials')
      const now = Date.now()
      const leftMs = (expiresAt ?? now) - now
      this.#failure = undefined
      if (leftMs > 0) {
        const renewAt = now + leftMs - Math.min(renewedMs, leftMs / 5)
        this.#kept = { value, renewAt, useUntil: now + leftMs - Math.min(unusedMs, leftMs / 10) }
      }
      return value
    } catch (error) {
      this.#failure = { error, until: Date.now() + pauseMs }
      throw error
    }
  }
}
