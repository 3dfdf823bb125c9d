import { age, callback, checkKnown, count as atLeastOne } from '../records/known-options.ts'
import { LRUCache } from 'lru-cache'
import type { ResponseRecord, ResponseStore } from './contract.ts'

/** Options of `memoryResponseStore`. */
export interface MemoryResponseStoreOptions {
  /** Maximum number of responses. Default 10,000. */
  readonly count?: number
  /** Maximum bytes of all responses together. Default 64 MiB. */
  readonly bytes?: number
  /** Milliseconds for which a response is kept. Default 86,400,000 (a day). */
  readonly ageMs?: number
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

interface Kept {
  readonly record: ResponseRecord
  readonly at: number
}

/** A response store in the memory of this process. Evicts the least recently used; all are lost on restart. */
export function memoryResponseStore(options: MemoryResponseStoreOptions = {}): ResponseStore {
  checkKnown('memoryResponseStore', options, { count: atLeastOne, bytes: atLeastOne, ageMs: age, clock: callback })
  const { count = 10_000, bytes = 64 * 1024 * 1024, ageMs = 86_400_000, clock = Date.now } = options
  /** Item → keys of the records that contain it. */
  const places = new Map<string, Set<string>>()
  // Without `max`, for which it would allocate memory at once.
  const records = new LRUCache<string, Kept>({
    maxSize: bytes,
    sizeCalculation: sizeOf,
    dispose({ record }, key) {
      for (const item of record.items) {
        const place = keyOf(record.account, item)
        const keys = places.get(place)
        keys?.delete(key)
        if (keys?.size === 0) places.delete(place)
      }
    },
  })
  const find = (key: string): ResponseRecord | undefined => {
    const kept = records.get(key)
    if (kept === undefined) return undefined
    if (clock() - kept.at < ageMs) return kept.record
    records.delete(key)
    return undefined
  }
  const put = (record: ResponseRecord) => {
    const key = keyOf(record.account, record.id)
    records.set(key, { record, at: clock() })
    if (records.size > count) records.pop()
    // The cache does not accept a record larger than its capacity.
    if (!records.has(key)) return
    for (const item of record.items) {
      const place = keyOf(record.account, item)
      places.set(place, (places.get(place) ?? new Set()).add(key))
    }
  }
  return {
    put,
    get: (account, id) => find(keyOf(account, id)),
    replace(record) {
      const before = find(keyOf(record.account, record.id))
      const version = before === undefined ? 0 : before.version
      if (version === undefined || version + 1 !== record.version) return false
      put({ ...record, items: before?.items ?? record.items })
      return true
    },
    holding(account, itemId) {
      const keys = places.get(keyOf(account, itemId)) ?? []
      for (const key of keys) {
        const record = find(key)
        if (record !== undefined) return record
      }
      return undefined
    },
    delete(account, id) {
      const key = keyOf(account, id)
      return find(key) !== undefined && records.delete(key)
    },
    deleteAll(account) {
      for (const key of Array.from(records.keys())) if (key.startsWith(keyOf(account, ''))) records.delete(key)
      return false
    },
    close: () => records.clear(),
  }
}

/** Starts with the length of the account, so that different pairs never have the same key. */
function keyOf(account: string, id: string): string {
  return `${account.length}:${account}:${id}`
}

/** A string has up to two bytes per character. Keys, ids and overhead are estimated. */
function sizeOf({ record }: Kept): number {
  return 2 * record.body.length + 200 * (2 + record.items.length)
}
