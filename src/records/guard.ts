import { GatewayError } from '../errors.ts'

export interface GuardOptions {
  /** Name of the store in error causes, such as `the ledger`. */
  readonly name: string
  /** Milliseconds to wait for a result. */
  readonly timeoutMs: number
  readonly now: () => number
  /** Called for each call that fails or times out. Default: nothing. */
  readonly failed?: StoreFailed | undefined
}

/** Learns that a call through a guard has failed, and why. */
export type StoreFailed = (guard: Guard, error: unknown) => void

/** The cause of an error when the store was not called, and so cannot have changed anything. */
class Unasked extends Error {}

/** Whether an error of a guard means that the store was not called. */
export function isUnasked(error: unknown): boolean {
  return GatewayError.is(error) && error.cause instanceof Unasked
}

/** Consecutive failures that open the breaker. */
const failuresToOpen = 5
/** Milliseconds between two probes of an open breaker, and so the longest delay after the store has recovered. */
const coolDownMs = 250
/** Timeout of a probe in milliseconds. A later success still closes the breaker. */
const probeMs = 500
/** Milliseconds by which a timer is late if the event loop was blocked. */
const mostLateMs = 10
/** Maximum number of pending calls. */
const mostWaiting = 10_000

/**
 * Calls a store with a timeout and a breaker. Every failure becomes a 503 with advice to retry; a `GatewayError` of the
 * store is rethrown. Synchronous results cost nothing.
 */
export class Guard {
  readonly #options: GuardOptions
  #failures = 0
  #waiting = 0
  #nextProbeAt = 0

  constructor(options: GuardOptions) {
    this.#options = options
  }

  /** Whether the store is not called at the moment, because several calls in a row have failed. */
  get isOpen(): boolean {
    return this.#failures >= failuresToOpen
  }

  /** The name of the store. */
  get name(): string {
    return this.#options.name
  }

  call<T>(ask: () => Promise<T> | T): Promise<T> | T {
    const probing = this.#failures >= failuresToOpen
    if (probing) {
      const now = this.#options.now()
      // If the clock was set back, the breaker must not stay open.
      if (now < this.#nextProbeAt && this.#nextProbeAt - now <= coolDownMs) throw this.#unasked('is down')
      this.#nextProbeAt = now + coolDownMs
    }
    if (this.#waiting >= mostWaiting) throw this.#unasked('has too many pending calls')
    let answer: Promise<T> | T
    try {
      answer = ask()
    } catch (error) {
      throw this.#failed(error)
    }
    if (typeof (answer as Partial<Promise<T>> | undefined)?.then !== 'function') {
      this.#failures = 0
      return answer
    }
    return this.#wait(
      answer as Promise<T>,
      probing ? Math.min(probeMs, this.#options.timeoutMs) : this.#options.timeoutMs,
    )
  }

  #wait<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
    this.#waiting++
    return new Promise<T>((resolve, reject) => {
      const { now } = this.#options
      const due = now() + timeoutMs
      let late = false
      const expire = () => {
        this.#waiting--
        late = true
        reject(this.#failed(new Error(`no answer within ${timeoutMs} ms`)))
      }
      let timer = setTimeout(() => {
        // While the event loop is blocked, an answer may arrive but is not read: it gets as much more time.
        const blockedMs = now() - due
        if (blockedMs < mostLateMs) expire()
        else timer = setTimeout(expire, Math.min(blockedMs, timeoutMs)).unref()
      }, timeoutMs)
      timer.unref()
      const settled = () => {
        clearTimeout(timer)
        if (!late) this.#waiting--
      }
      answer.then(
        (value) => {
          settled()
          this.#failures = 0
          resolve(value)
        },
        (error: unknown) => {
          settled()
          if (!late) reject(this.#failed(error))
        },
      )
    })
  }

  #failed(error: unknown): GatewayError {
    // A GatewayError is the store's answer, so the store works.
    if (GatewayError.is(error)) return error
    this.#failures++
    this.#options.failed?.(this, error)
    if (this.#failures === failuresToOpen) this.#nextProbeAt = this.#options.now() + coolDownMs
    return down(new Error(`${this.#options.name} failed`, { cause: error }))
  }

  #unasked(what: string): GatewayError {
    return down(new Unasked(`${this.#options.name} ${what}`))
  }
}

function down(cause: Error): GatewayError {
  return new GatewayError('service_unavailable', { cause, retryAfterMs: 1_000, fault: 'gateway_store' })
}
