/** Answers to equal requests: kept by what `Idempotency` records, under a digest of the request in place of a client's key. */
import type { Caller } from '../../callers/contract.ts'
import { header, type Exchange, type Reply } from '../../http/exchange.ts'
import { queryOf } from '../../http/target.ts'
import type { Model } from '../../models/contract.ts'
import type { Receipt } from '../../money/receipt.ts'
import type { IdempotencyStore, IdempotentAnswer } from '../idempotency/contract.ts'
import { Idempotency } from '../idempotency/idempotency.ts'
import { KeyedRequest, type IdempotencySettings } from '../idempotency/keyed-request.ts'
import { canKeep, canonicalDigest, isDeterministic, type CachedRequest } from './canonical.ts'

/** How answers to equal requests are kept. */
export interface CacheOptions {
  /** Milliseconds for which an answer is used. Default 3,600,000 (an hour). */
  readonly ttlMs?: number
  /** Maximum bytes of an answer; a larger one is not kept. Default 1 MiB. */
  readonly maxBytes?: number
  /**
   * Which requests are answered from the cache: `deterministic` ones, and those that ask for it by `x-modelhatch-cache: use`, or only
   * those that are `asked`. Default `deterministic`.
   */
  readonly when?: 'deterministic' | 'asked'
  /** Who gets the answer to another one's request: the same `account`, or every account of the same `group`. Default `account`. */
  readonly share?: 'account' | 'group'
  /** The share of its price that an answer from the cache costs, from 0 (free) to 1. Default 0. */
  readonly charge?: number
  /** Where answers are kept. Default: where responses for idempotency keys are. */
  readonly store?: IdempotencyStore
}

/** An answer from the cache. */
export class CachedAnswer {
  readonly reply: Reply
  /** What the first request has used, and by whom it was served. */
  readonly used: Partial<Receipt>
  /** See `CacheOptions.charge`. */
  readonly charge: number

  constructor({ status, headers, body }: IdempotentAnswer, charge: number) {
    const { [usedHeader]: used = '{}', 'x-request-id': _, ...shown } = headers
    this.reply = { status, headers: { ...shown, [cacheHeader]: 'hit' }, body }
    this.used = JSON.parse(used) as Partial<Receipt>
    this.charge = charge
  }
}

/** Says in a response whether it comes from the cache, and in a request whether it may: `use` or `none`. */
export const cacheHeader = 'x-modelhatch-cache'
const usedHeader = 'x-modelhatch-used'
const firstHeaders = { [cacheHeader]: 'miss' }

/** Milliseconds after which requests that wait for a process that has died may be answered by another call. */
const leaseMs = 30_000

/** Answers requests that were answered before, and makes one call of equal requests at the same time. */
export class AnswerCache {
  readonly #options: CacheOptions
  readonly #records: Idempotency
  readonly #isShared: boolean

  /** `isShared`: whether another owner closes the store. */
  constructor(
    options: CacheOptions,
    {
      isShared,
      ...settings
    }: Pick<IdempotencySettings, 'store' | 'guard' | 'observer'> & { readonly isShared: boolean },
  ) {
    const { ttlMs: keepMs = 3_600_000, maxBytes = 1024 * 1024 } = options
    this.#options = options
    this.#isShared = isShared
    this.#records = new Idempotency({
      ...settings,
      keepMs,
      maxBytes,
      leaseMs,
      resumeMs: 0,
      headersOf: usedIn,
      firstHeaders,
    })
  }

  /**
   * The answer to an equal request, or the request whose answer is to be kept, on which the caller must call `keep` or `fail`. Waits
   * for an equal request in this process. Undefined if the request is served without the cache: it may not use it, another process
   * serves an equal one, that one has failed, or the store has.
   */
  begin(
    endpoint: string,
    { id, caller, exchange }: { readonly id: string; readonly caller: Caller; readonly exchange: Exchange },
    request: CachedRequest,
    model: Model,
  ): Promise<KeyedRequest | CachedAnswer | undefined> | undefined {
    const { when = 'deterministic' } = this.#options
    const wanted = header(exchange, cacheHeader)
    if (wanted === 'none' || !canKeep(endpoint, request)) return undefined
    if (wanted !== 'use' && (when === 'asked' || !isDeterministic(endpoint, request))) return undefined
    return this.#begin(endpoint, id, caller, exchange, request, model)
  }

  /** Waits for pending updates of the store. */
  async close(): Promise<void> {
    await this.#records.close(this.#isShared)
  }

  async #begin(
    endpoint: string,
    id: string,
    { account, group }: Caller,
    exchange: Exchange,
    request: CachedRequest,
    model: Model,
  ): Promise<KeyedRequest | CachedAnswer | undefined> {
    const { share = 'account', charge = 0 } = this.#options
    const owner = share === 'account' ? account : `group:${group}`
    const digest = canonicalDigest(request, model, [share, owner, group, queryOf(exchange.target).get('alt')])
    const start = { account: owner, route: `cache:${endpoint}`, key: digest, attempt: id, digest, leaseMs }
    const claimed = await this.#records.claim(start, exchange.signal)
    if (claimed instanceof KeyedRequest) return claimed
    return 'answer' in claimed ? new CachedAnswer(claimed.answer, charge) : undefined
  }
}

function usedIn({ usage, usageSource, units, serviceTier, provider, providerModel }: Receipt): Record<string, string> {
  return { [usedHeader]: JSON.stringify({ usage, usageSource, units, serviceTier, provider, providerModel }) }
}
