import type { Caller } from '../../callers/contract.ts'
import { GatewayError } from '../../errors.ts'
import { cancellationOf } from '../../http/cancellation.ts'
import type { Exchange, Reply } from '../../http/exchange.ts'
import type { IdempotencyStart, IdempotencyStore } from './contract.ts'
import { digestOf, type ReadBody } from './digest.ts'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import { lastEventOf } from './event-ids.ts'
import {
  anotherRequest,
  inProgress,
  KeyedRequest,
  notKept,
  replayed,
  streamLost,
  type IdempotencySettings,
  type KeyedOutcome,
} from './keyed-request.ts'
import { restOnceEnded } from './rest-once-ended.ts'

/**
 * Serves the first request with an `Idempotency-Key` and replays its response to later ones. A request that arrives
 * while the first is in progress waits for it in the same process; in another process it is rejected with a 409. One with a
 * `Last-Event-ID` gets the rest of the stream: as it comes in the same process, when the stream has ended in another one.
 */
export class Idempotency {
  readonly #settings: IdempotencySettings
  /** Those of this process. */
  readonly #inProgress = new Map<string, KeyedRequest>()
  /** Aborted at shutdown. */
  readonly #closing = new AbortController()

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

  /** Milliseconds for which a stream whose client has gone is read on. */
  get resumeMs(): number {
    return this.#settings.resumeMs
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
    const { leaseMs, resumeMs } = this.#settings
    const event = resumeMs > 0 ? lastEventOf(exchange) : undefined
    const digest = await digestOf(body)
    const start = { account, route, key, attempt: id, digest, leaseMs }
    const claimed = await this.claim(start, exchange.signal, (other) => {
      if (other.digest !== digest) throw anotherRequest()
      return event === undefined ? undefined : other.resume(event, cancellationOf(exchange))
    })
    if (claimed instanceof KeyedRequest) {
      if (event === undefined) return claimed
      const error = streamLost()
      await claimed.giveBack()
      throw error
    }
    if (
      event !== undefined &&
      'error' in claimed &&
      claimed.error.shouldRetry === true &&
      claimed.error.code === 'conflict'
    )
      return restOnceEnded(start, event, {
        ...this.#settings,
        id,
        client: exchange.signal,
        closing: this.#closing.signal,
      })
    return 'status' in claimed ? claimed : replyOf(claimed, event)
  }

  /**
   * The request that holds the record, or the outcome of an earlier one; one that is in progress in this process is waited for,
   * unless `found` has a reply for it. Rejects with a 499.
   */
  async claim(
    start: IdempotencyStart,
    client: AbortSignal,
    found?: (other: KeyedRequest) => Reply | undefined,
  ): Promise<KeyedRequest | NonNullable<KeyedOutcome> | Reply> {
    const place = JSON.stringify([start.account, start.route, start.key])
    for (let other = this.#inProgress.get(place); other !== undefined; other = this.#inProgress.get(place)) {
      const reply = found?.(other)
      if (reply !== undefined) return reply
      const outcome = await other.wait(client)
      if (outcome !== undefined) return outcome
    }
    const request = new KeyedRequest(start, this.#settings, () => this.#inProgress.delete(place))
    this.#inProgress.set(place, request)
    const outcome = await this.#claim(request)
    if (outcome === undefined) return request
    request.yield(outcome)
    return outcome
  }

  /** Waits for pending updates of the store, and closes it unless another one does. */
  async close(isShared: boolean = false): Promise<void> {
    this.#closing.abort()
    const never = new AbortController().signal
    await Promise.all(Array.from(this.#inProgress.values(), async (request) => request.wait(never)))
    if (!isShared) await this.#settings.store.close?.()
  }

  /** Claims the key. Returns undefined if successful, otherwise the outcome for this request. */
  async #claim(request: KeyedRequest): Promise<KeyedOutcome> {
    try {
      const verdict = await request.claim()
      if (verdict.outcome === 'begun') return undefined
      if (verdict.digest !== request.digest) return { error: anotherRequest() }
      if (verdict.outcome === 'running') return { error: inProgress() }
      return verdict.answer === undefined ? { error: notKept() } : { answer: verdict.answer }
    } catch (error) {
      return { error: GatewayError.from(error) }
    }
  }
}

function replyOf(outcome: NonNullable<KeyedOutcome>, event: number | undefined): Reply {
  if ('error' in outcome) throw outcome.error
  return replayed(outcome.answer, event)
}

/** How responses to requests with an `Idempotency-Key` are replayed. */
export interface IdempotencyOptions {
  /** Milliseconds for which a response can be replayed. Default 86,400,000 (a day). */
  readonly keepMs?: number
  /** Maximum bytes of a stored response; a larger one is sent but not stored. Default 4 MiB. */
  readonly maxBytes?: number
  /** Milliseconds after which keys held by a process that died become free. Default 30,000. */
  readonly leaseMs?: number
  /**
   * Milliseconds for which a stream is read on after its client has gone, so that the client can take it up: it repeats the
   * request with its `Idempotency-Key` and the id of the last event that it got as `Last-Event-ID`. With it, each event of a
   * stream that was asked for with a key has an `id`; at most 100 streams whose clients have gone are read on at once. Default 0:
   * events have no ids, and a stream ends as `onDisconnect` says.
   */
  readonly resumeMs?: number
}
