/** The embedded store: the responses used last, as far as they fit. Lost with the process. */
import { age, callback, checkKnown, count as atLeastOne } from '../validation/known-options.ts'
import { LRUCache } from 'lru-cache'
import { lazily } from '../lazily.ts'
import type { ResponseRecord, ResponseStore } from './contract.ts'

export interface ResponseMemoryOptions {
  /** Responses kept at most. Default 10,000. */
  readonly count?: number
  /** Bytes of all of them together at most. Default 64 MiB. */
  readonly bytes?: number
  /** Milliseconds for which a response is kept. Default 86,400,000: a day. */
  readonly ageMs?: number
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

interface Kept {
  readonly record: ResponseRecord
  readonly at: number
}

export function memoryResponseStore(options: ResponseMemoryOptions = {}): ResponseStore {
  checkKnown('memoryResponseStore', options, { count: atLeastOne, bytes: atLeastOne, ageMs: age, clock: callback })
  const { count = 10_000, bytes = 64 * 1024 * 1024, ageMs = 86_400_000, clock = Date.now } = options
  /** Item → the keys of the records it stands in. */
  const places = new Map<string, Set<string>>()
  const records = lazily(
    () =>
      new LRUCache<string, Kept>({
        max: count,
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
      }),
  )
  const find = (key: string): ResponseRecord | undefined => {
    const kept = records().get(key)
    if (kept === undefined) return undefined
    if (clock() - kept.at < ageMs) return kept.record
    records().delete(key)
    return undefined
  }
  return {
    put(record) {
      const key = keyOf(record.account, record.id)
      records().set(key, { record, at: clock() })
      // A record larger than all there is room for is not taken.
      if (!records().has(key)) return
      for (const item of record.items) {
        const place = keyOf(record.account, item)
        places.set(place, (places.get(place) ?? new Set()).add(key))
      }
    },
    get: (account, id) => find(keyOf(account, id)),
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
      return find(key) !== undefined && records().delete(key)
    },
    close: () => records().clear(),
  }
}

/** Length first: no two pairs of account and id make the same key. */
function keyOf(account: string, id: string): string {
  return `${account.length}:${account}:${id}`
}

/** A string takes up to two bytes a character; keys, ids and bookkeeping are estimated. */
function sizeOf({ record }: Kept): number {
  return 2 * record.body.length + 200 * (2 + record.items.length)
}
