import type { Caller } from '../../callers/contract.ts'
import { GatewayError } from '../../errors.ts'
import type { Exchange, Reply } from '../../http/exchange.ts'
import type { IdempotencyStore } from './contract.ts'
import { digestOf, type ReadBody } from './digest.ts'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import {
  anotherRequest,
  inProgress,
  KeyedRequest,
  notKept,
  replayed,
  type IdempotencySettings,
  type KeyedOutcome,
} from './keyed-request.ts'

/**
 * Serves the first request with an `Idempotency-Key` and replays its response to later ones. A request that arrives
 * while the first is in progress waits for it in the same process; in another process it is rejected with a 409.
 */
export class Idempotency {
  readonly #settings: IdempotencySettings
  /** Those of this process. */
  readonly #inProgress = new Map<string, KeyedRequest>()

  constructor(settings: IdempotencySettings) {
    this.#settings = settings
  }

  /** Where requests with a key are kept. */
  get store(): IdempotencyStore {
    return this.#settings.store
  }

  /** Milliseconds for which a response is kept. */
  get keepMs(): number {
    return this.#settings.keepMs
  }

  /**
   * Returns the request with its key claimed, on which the caller must call `keep` or `fail`, or the reply to an earlier one.
   * Throws a 400 for an invalid key, a 409 if the key was used for another request or is in progress in another process, the
   * error of a request it waited for, a 499 or a 503. Called after the body was read.
   */
  async begin(
    route: string,
    { id, caller, exchange }: { readonly id: string; readonly caller: Caller; readonly exchange: Exchange },
    body: ReadBody,
  ): Promise<KeyedRequest | Reply> {
    const key = idempotencyKeyOf(exchange) ?? ''
    const { account } = caller
    const digest = await digestOf(body)
    const place = JSON.stringify([account, route, key])
    for (let other = this.#inProgress.get(place); other !== undefined; other = this.#inProgress.get(place)) {
      if (other.digest !== digest) throw anotherRequest()
      const outcome = await other.wait(exchange.signal)
      if (outcome !== undefined) return replyOf(outcome)
    }
    const { leaseMs } = this.#settings
    const start = { account, route, key, attempt: id, digest, leaseMs }
    const request = new KeyedRequest(start, this.#settings, () => this.#inProgress.delete(place))
    this.#inProgress.set(place, request)
    const outcome = await this.#claim(request)
    if (outcome === undefined) return request
    request.yield(outcome)
    return replyOf(outcome)
  }

  /** Waits for pending updates of the store. */
  async close(): Promise<void> {
    const never = new AbortController().signal
    await Promise.all(Array.from(this.#inProgress.values(), async (request) => request.wait(never)))
    await this.#settings.store.close?.()
  }

  /** Claims the key. Returns undefined if successful, otherwise the outcome for this request. */
  async #claim(request: KeyedRequest): Promise<KeyedOutcome> {
    try {
      const verdict = await request.claim()
      if (verdict.outcome === 'begun') return undefined
      if (verdict.digest !== request.digest) return { error: anotherRequest() }
      if (verdict.outcome === 'running') return { error: inProgress() }
      return verdict.answer === undefined ? { error: notKept() } : { reply: replayed(verdict.answer) }
    } catch (error) {
      return { error: GatewayError.from(error) }
    }
  }
}

function replyOf(outcome: NonNullable<KeyedOutcome>): Reply {
  if ('error' in outcome) throw outcome.error
  return outcome.reply
}

/** How responses to requests with an `Idempotency-Key` are replayed. */
export interface IdempotencyOptions {
  /** Milliseconds for which a response can be replayed. Default 86,400,000 (a day). */
  readonly keepMs?: number
  /** Maximum bytes of a stored response; a larger one is sent but not stored. Default 4 MiB. */
  readonly maxBytes?: number
  /** Milliseconds after which keys held by a process that died become free. Default 30,000. */
  readonly leaseMs?: number
}
