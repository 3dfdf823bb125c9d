import { LRUCache } from 'lru-cache'

/** Milliseconds for which an entry is valid, and how exactly that is kept. */
export type EntryAge = Pick<LRUCache.Options<string, object, unknown>, 'ttl' | 'ttlResolution'>

/**
 * Keeps at most `count` entries; the least recently used one leaves first. Its memory grows with its entries, while `lru-cache`
 * allocates memory for its `max` at once: a millisecond for 10,000 entries, in every gateway and for those that are never used.
 */
export function boundedCache<Key extends {}, Value extends {}>(
  count: number,
  age: EntryAge = {},
): LRUCache<Key, Value> {
  return new LRUCache({ maxSize: count, sizeCalculation: () => 1, ...age })
}
