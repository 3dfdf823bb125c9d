/** What stands between the gateway and one store: a deadline for every call, and a breaker while it is down. */
import { GatewayError } from '../errors.ts'

export interface GuardOptions {
  /** What the host's log is told, such as `the ledger`. */
  readonly name: string
  /** Milliseconds to wait for an answer. */
  readonly timeoutMs: number
  readonly now: () => number
}

/** Says of a refusal that the store was not asked, and so cannot have done anything. */
class Unasked extends Error {}

/** Whether it is known of an error of a guard that nothing has reached the store. */
export function isUnasked(error: unknown): boolean {
  return GatewayError.is(error) && error.cause instanceof Unasked
}

/** Failures in a row after which the store is left alone. */
const failuresToOpen = 5
/** Milliseconds after which one call may look again, and again after as many: what a return of the store costs at most. */
const coolDownMs = 250
/** Milliseconds for which such a call is waited for. Its answer counts as a sign of life even later. */
const probeMs = 500
/** Calls that wait for an answer at once, at most. */
const mostWaiting = 10_000

/**
 * Calls a store. Whatever goes wrong with it becomes 503 with advice to try again, at the latest after the deadline; a
 * `GatewayError` of the store's own passes. Answers that are given at once cost nothing here.
 */
export class Guard {
  readonly #options: GuardOptions
  #failures = 0
  #waiting = 0
  #nextProbeAt = 0

  constructor(options: GuardOptions) {
    this.#options = options
  }

  call<T>(ask: () => Promise<T> | T): Promise<T> | T {
    const probing = this.#failures >= failuresToOpen
    if (probing) {
      const now = this.#options.now()
      // A clock that was put back must not keep the breaker open.
      if (now < this.#nextProbeAt && this.#nextProbeAt - now <= coolDownMs) throw this.#unasked('was left alone')
      this.#nextProbeAt = now + coolDownMs
    }
    if (this.#waiting >= mostWaiting) throw this.#unasked('has too many calls waiting')
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
      const timer = setTimeout(() => {
        this.#waiting--
        late = true
        reject(this.#failed(new Error(`no answer within ${timeoutMs} ms`)))
      }, timeoutMs)
      timer.unref()
      let late = false
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
    // An error of ours is an answer: the store is there.
    if (GatewayError.is(error)) return error
    this.#failures++
    if (this.#failures === failuresToOpen) this.#nextProbeAt = this.#options.now() + coolDownMs
    return down(new Error(`${this.#options.name} failed`, { cause: error }))
  }

  #unasked(what: string): GatewayError {
    return down(new Unasked(`${this.#options.name} ${what}`))
  }
}

function down(cause: Error): GatewayError {
  return new GatewayError('service_unavailable', { cause, retryAfterMs: 1_000 })
}
