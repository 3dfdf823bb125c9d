import type { LRUCache } from 'lru-cache'
import { longestTimerMs } from '../http/deadline.ts'
import { boundedCache } from '../bounded-cache.ts'
import type { KeyRecord, KeyStore } from './contract.ts'

/** How long and how many API keys are cached. */
export interface KeyCacheOptions {
  /** Maximum number of known keys in the cache. Default 10,000. */
  readonly size?: number
  /** Milliseconds until a known key is looked up again, and so the longest time a revoked key still works. Default 10,000. */
  readonly ageMs?: number
  /** Milliseconds for which an unknown key is rejected without a look-up. Default 2,000. */
  readonly unknownAgeMs?: number
}

interface Flight {
  readonly record: Promise<KeyRecord | undefined>
  /** The record changed during the look-up, so its result may be outdated. */
  stale: boolean
}

/**
 * Caches look-ups of keys. Unknown keys have a cache of their own, so that a flood of invalid keys cannot evict valid
 * ones. Concurrent look-ups of one key share one query. The store is watched only while the cache may have valid entries:
 * a process without calls asks it nothing.
 */
export class KeyCache {
  readonly #store: KeyStore
  readonly #known: LRUCache<string, KeyRecord>
  readonly #unknown: LRUCache<string, true>
  readonly #flights = new Map<string, Flight>()
  readonly #changed: (hash: string) => void
  /** Longer than any entry is valid, and than open calls go without a look-up. */
  readonly #idleMs: number
  #unwatch: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #isUsed = false
  #isClosed = false

  /** `changed` is called with the hash of a key that the store reports as changed. */
  constructor(store: KeyStore, options: KeyCacheOptions = {}, changed?: (hash: string) => void) {
    const { size = 10_000, ageMs = 10_000, unknownAgeMs = 2_000 } = options
    this.#store = store
    this.#known = boundedCache(size, { ttl: ageMs, ttlResolution: 0 })
    this.#unknown = boundedCache(size, { ttl: unknownAgeMs, ttlResolution: 0 })
    this.#idleMs = Math.min(2 * Math.max(ageMs, unknownAgeMs), longestTimerMs)
    this.#changed = (hash) => {
      this.forget(hash)
      changed?.(hash)
    }
  }

  /** The record for a hash, from the cache or the store. Rejects when the store does. */
  find(hash: string): KeyRecord | undefined | Promise<KeyRecord | undefined> {
    this.#isUsed = true
    const known = this.#known.get(hash)
    if (known !== undefined) return known
    if (this.#unknown.has(hash)) return undefined
    const flight = this.#flights.get(hash)
    return flight === undefined || flight.stale ? this.#lookUp(hash) : flight.record
  }

  /** Drops a hash from the cache. The result of a look-up in progress is not cached either. */
  forget(hash: string): void {
    this.#known.delete(hash)
    this.#unknown.delete(hash)
    const flight = this.#flights.get(hash)
    if (flight !== undefined) flight.stale = true
  }

  close(): void {
    this.#isClosed = true
    this.#forgetAll()
  }

  #watch(): void {
    if (this.#unwatch !== undefined || this.#isClosed) return
    this.#unwatch = this.#store.watch?.(this.#changed)
    if (this.#unwatch !== undefined) this.#awaitIdle()
  }

  #awaitIdle(): void {
    this.#isUsed = false
    this.#timer = setTimeout(() => (this.#isUsed ? this.#awaitIdle() : this.#forgetAll()), this.#idleMs).unref()
  }

  /** Empties the cache, and watches no more: the next look-up begins it again. */
  #forgetAll(): void {
    clearTimeout(this.#timer)
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#known.clear()
    this.#unknown.clear()
    for (const flight of this.#flights.values()) flight.stale = true
  }

  #lookUp(hash: string): Promise<KeyRecord | undefined> {
    this.#watch()
    const record = Promise.resolve()
      .then(() => this.#store.find(hash))
      .then(requireRecord)
    const flight: Flight = { record, stale: false }
    this.#flights.set(hash, flight)
    const land = (found?: KeyRecord, failed = false) => {
      if (this.#flights.get(hash) === flight) this.#flights.delete(hash)
      if (flight.stale || failed) return
      if (found === undefined) this.#unknown.set(hash, true)
      else this.#known.set(hash, found)
    }
    record.then(
      (found) => land(found),
      () => land(undefined, true),
    )
    return record
  }
}

/** Rejects invalid results of a store, which must neither authenticate a request nor look like the client's mistake. */
function requireRecord(value: unknown): KeyRecord | undefined {
  if (value === undefined || value === null) return undefined
  const { id, hash, account, group } = value as Partial<KeyRecord>
  if ([id, hash, account, group].every((field) => typeof field === 'string' && field !== '')) return value as KeyRecord
  throw new TypeError('find() of the key store must return a KeyRecord or undefined')
}
