/** A page out of a list that is longer. */
import type { Page } from './contract.ts'

/** `found` holds one more than `limit` where there is more to come. */
export function pageOf<T>(found: readonly T[], limit: number, cursor: (last: T) => string): Page<T> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return found.length > limit && last !== undefined ? { items, next: cursor(last) } : { items }
}
