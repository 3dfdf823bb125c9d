/**
 * Requests with an `Idempotency-Key`: the first is a call, its repetitions get the answer of the first. Those that come
 * while it is under way wait for it in the same process, and are told to come again (409) in another one.
 */
import type { Caller } from '../auth/contract.ts'
import { GatewayError } from '../errors.ts'
import type { Exchange, Reply } from '../http/exchange.ts'
import { again, Attempt, type AttemptParts, type Ending } from './attempt.ts'
import { digestOf, type ReadBody } from './digest.ts'
import { idempotencyKeyOf } from '../http/idempotency-key.ts'
import { anotherRequest, notKept, underWay } from './refusals.ts'

export interface IdempotencyParts extends AttemptParts {
  readonly leaseMs: number
}

/** A request whose caller is known, after its body was read. */
export interface Keyed {
  readonly id: string
  readonly caller: Caller
  readonly exchange: Exchange
}

export class Idempotency {
  readonly #parts: IdempotencyParts
  /** The attempts of this process. */
  readonly #attempts = new Map<string, Attempt>()

  constructor(parts: IdempotencyParts) {
    this.#parts = parts
  }

  /**
   * An attempt, which the caller has to `keep` or to `fail`; or the reply of an earlier one. Throws 400 for a bad key, 409
   * for another request under the same key and for one that is under way elsewhere, whatever an attempt has failed with
   * that it waited for, 499, 503.
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

  /** Waits for what is still being told to the store. */
  async close(): Promise<void> {
    const nobody = new AbortController().signal
    await Promise.all(Array.from(this.#attempts.values(), async (attempt) => attempt.wait(nobody)))
    await this.#parts.store.close?.()
  }

  /** What stands in the way of the attempt: undefined if it has got the key. */
  async #claim(attempt: Attempt): Promise<Ending> {
    try {
      const verdict = await attempt.claim()
      if (verdict.outcome === 'begun') return undefined
      if (verdict.digest !== attempt.digest) return { error: anotherRequest() }
      if (verdict.outcome === 'running') return { error: underWay() }
      return verdict.answer === undefined ? { error: notKept() } : { reply: again(verdict.answer) }
    } catch (error) {
      return { error: GatewayError.from(error) }
    }
  }
}

function replyOf(ending: NonNullable<Ending>): Reply {
  if ('error' in ending) throw ending.error
  return ending.reply
}
