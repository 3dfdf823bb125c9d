import type { Caller } from '../../callers/contract.ts'
import { GatewayError } from '../../errors.ts'
import type { Exchange, Reply } from '../../http/exchange.ts'
import { Attempt, replayed, type AttemptParts, type Ending } from './claim.ts'
import type { IdempotencyStore } from './contract.ts'
import { digestOf, type ReadBody } from './digest.ts'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import { anotherRequest, inProgress, notKept } from './refusals.ts'

export interface IdempotencyParts extends AttemptParts {
  readonly leaseMs: number
}

/** An authenticated request, after its body was read. */
export interface Keyed {
  readonly id: string
  readonly caller: Caller
  readonly exchange: Exchange
}

/**
 * Serves the first request with an `Idempotency-Key` and replays its response to later ones. A request that arrives
 * while the first is in progress waits for it in the same process; in another process it is rejected with a 409.
 */
export class Idempotency {
  readonly #parts: IdempotencyParts
  /** The attempts of this process. */
  readonly #attempts = new Map<string, Attempt>()

  constructor(parts: IdempotencyParts) {
    this.#parts = parts
  }

  /** Where requests with a key are kept. */
  get store(): IdempotencyStore {
    return this.#parts.store
  }

  /** Milliseconds for which a response is kept. */
  get keepMs(): number {
    return this.#parts.keepMs
  }

  /**
   * Returns an attempt, on which the caller must call `keep` or `fail`, or the reply of an earlier attempt. Throws a 400
   * for an invalid key, a 409 if the key was used for another request or is in progress in another process, the error of
   * an attempt it waited for, a 499 or a 503.
   */
  async begin(route: string, { id, caller, exchange }: Keyed, body: ReadBody): Promise<Attempt | Reply> {
    const key = idempotencyKeyOf(exchange) ?? ''
    const { account } = caller
    const digest = await digestOf(body)
    const place = JSON.stringify([account, route, key])
    for (let other = this.#attempts.get(place); other !== undefined; other = this.#attempts.get(place)) {
      if (other.digest !== digest) throw anotherRequest()
      const ending = await other.wait(exchange.signal)
      if (ending !== undefined) return replyOf(ending)
    }
    const { leaseMs } = this.#parts
    const start = { account, route, key, attempt: id, digest, leaseMs }
    const attempt = new Attempt(start, this.#parts, () => this.#attempts.delete(place))
    this.#attempts.set(place, attempt)
    const ending = await this.#claim(attempt)
    if (ending === undefined) return attempt
    attempt.yield(ending)
    return replyOf(ending)
  }

  /** Waits for pending updates of the store. */
  async close(): Promise<void> {
    const never = new AbortController().signal
    await Promise.all(Array.from(this.#attempts.values(), async (attempt) => attempt.wait(never)))
    await this.#parts.store.close?.()
  }

  /** Claims the key. Returns undefined if successful, otherwise the outcome for this request. */
  async #claim(attempt: Attempt): Promise<Ending> {
    try {
      const verdict = await attempt.claim()
      if (verdict.outcome === 'begun') return undefined
      if (verdict.digest !== attempt.digest) return { error: anotherRequest() }
      if (verdict.outcome === 'running') return { error: inProgress() }
      return verdict.answer === undefined ? { error: notKept() } : { reply: replayed(verdict.answer) }
    } catch (error) {
      return { error: GatewayError.from(error) }
    }
  }
}

function replyOf(ending: NonNullable<Ending>): Reply {
  if ('error' in ending) throw ending.error
  return ending.reply
}
