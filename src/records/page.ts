import { invalid, type GatewayError } from '../errors.ts'
import { isStorable } from './storable-text.ts'

/** One page of a list. */
export interface Page<T> {
  /** The items of this page, in the order of the list. */
  readonly items: readonly T[]
  /** Pass as `after` to get the next page. Absent on the last page. */
  readonly next?: string
}

/** Selects a page of a list. */
export interface PageRequest {
  /** Maximum number of items. Default 100, at most 1,000. */
  readonly limit?: number
  /** `next` of the previous page. */
  readonly after?: string
}

/** A page of a list. `found` has one more item than `limit` if there is a next page. */
export function pageOf<T>(found: readonly T[], limit: number, cursor: (last: T) => string): Page<T> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return found.length > limit && last !== undefined ? { items, next: cursor(last) } : { items }
}

/** The page with each item mapped. */
export function mapPage<From, To>({ items, next }: Page<From>, map: (item: From) => To): Page<To> {
  return { items: items.map(map), ...(next !== undefined && { next }) }
}

/** The cursor of an item in a list ordered by time, then id. */
export function cursorOf(time: number, id: string): string {
  return JSON.stringify([time, id])
}

/** Parses a cursor of `cursorOf`. Throws a 400 for anything else. `isTime`: by default, times need not be whole. */
export function readCursor(
  after: string,
  isTime: (time: unknown) => boolean = Number.isFinite,
): readonly [time: number, id: string] {
  let parts: unknown
  try {
    parts = JSON.parse(after)
  } catch (error) {
    throw badCursor(error)
  }
  if (!Array.isArray(parts) || parts.length !== 2) throw badCursor()
  const [time, id] = parts as readonly unknown[]
  if (!isTime(time) || !isStorable(id, Infinity)) throw badCursor()
  return [time as number, id]
}

/** Parses a cursor that is the number of a ledger entry. Throws a 400 for anything else. */
export function readNumberCursor(after: string): bigint {
  if (!/^\d{1,19}$/.test(after)) throw badCursor()
  const number = BigInt(after)
  if (number > 9_223_372_036_854_775_807n) throw badCursor()
  return number
}

function badCursor(cause?: unknown): GatewayError {
  return invalid('"after" must be the "next" of a page of the same list.', 'after', cause)
}

/** The items of all pages of a list. */
export async function* allItems<T>(pageAt: (page: PageRequest) => Promise<Page<T>> | Page<T>): AsyncGenerator<T, void> {
  let after: string | undefined
  do {
    const page: Page<T> = await pageAt({ limit: 1_000, ...(after !== undefined && { after }) })
    yield* page.items
    after = page.next
  } while (after !== undefined)
}
