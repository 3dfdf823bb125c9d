/**
 * What was found of a key, kept for a short while. Unknown keys are remembered apart, so that a flood of junk cannot
 * push good keys out; one look-up serves everybody who asks for the same key meanwhile.
 */
import { LRUCache } from 'lru-cache'
import { lazily } from '../lazily.ts'
import type { KeyRecord, KeyStore } from './contract.ts'

export interface KeyCacheOptions {
  /** Known keys held at most. Default 10,000. */
  readonly size?: number
  /** Milliseconds for which a known key is not looked up again: the longest life of a revoked key. Default 10,000. */
  readonly ageMs?: number
  /** Milliseconds for which an unknown key is refused without a look-up. Default 2,000. */
  readonly unknownAgeMs?: number
}

interface Flight {
  readonly record: Promise<KeyRecord | undefined>
  /** Set when the record changed while it was on its way: what arrives may be older than the change. */
  stale: boolean
}

export class KeyCache {
  readonly #store: KeyStore
  readonly #known: () => LRUCache<string, KeyRecord>
  readonly #unknown: () => LRUCache<string, true>
  readonly #flights = new Map<string, Flight>()
  readonly #unwatch: (() => void) | undefined

  /** `changed`: called after a notice of the store. */
  constructor(store: KeyStore, options: KeyCacheOptions = {}, changed?: (hash: string) => void) {
    const { size = 10_000, ageMs = 10_000, unknownAgeMs = 2_000 } = options
    this.#store = store
    this.#known = lazily(() => new LRUCache({ max: size, ttl: ageMs }))
    this.#unknown = lazily(() => new LRUCache({ max: size, ttl: unknownAgeMs }))
    this.#unwatch = store.watch?.((hash) => {
      this.forget(hash)
      changed?.(hash)
    })
  }

  /** The record for a hash, from here or from the store. Rejects when the store does. */
  find(hash: string): KeyRecord | undefined | Promise<KeyRecord | undefined> {
    const known = this.#known().get(hash)
    if (known !== undefined) return known
    if (this.#unknown().has(hash)) return undefined
    const flight = this.#flights.get(hash)
    return flight === undefined || flight.stale ? this.#lookUp(hash) : flight.record
  }

  /** Drops what is known of a hash; a look-up that is under way will not be remembered. */
  forget(hash: string): void {
    this.#known().delete(hash)
    this.#unknown().delete(hash)
    const flight = this.#flights.get(hash)
    if (flight !== undefined) flight.stale = true
  }

  close(): void {
    this.#unwatch?.()
    this.#known().clear()
    this.#unknown().clear()
  }

  #lookUp(hash: string): Promise<KeyRecord | undefined> {
    const record = Promise.resolve()
      .then(() => this.#store.find(hash))
      .then(requireRecord)
    const flight: Flight = { record, stale: false }
    this.#flights.set(hash, flight)
    const land = (found?: KeyRecord, failed = false) => {
      if (this.#flights.get(hash) === flight) this.#flights.delete(hash)
      if (flight.stale || failed) return
      if (found === undefined) this.#unknown().set(hash, true)
      else this.#known().set(hash, found)
    }
    record.then(
      (found) => land(found),
      () => land(undefined, true),
    )
    return record
  }
}

/** Nothing that a store gives instead of a record may let anybody in, or look like a client's mistake. */
function requireRecord(value: unknown): KeyRecord | undefined {
  if (value === undefined || value === null) return undefined
  const { id, hash, account, group } = value as Partial<KeyRecord>
  if ([id, hash, account, group].every((field) => typeof field === 'string' && field !== '')) return value as KeyRecord
  throw new TypeError('find() of the key store must give a KeyRecord or undefined')
}
