/** A page out of a list that is longer, and the cursors that lead from one to the next. */
import { invalid, type GatewayError } from '../errors.ts'
import type { Page } from './contract.ts'

/** `found` holds one more than `limit` where there is more to come. */
export function pageOf<T>(found: readonly T[], limit: number, cursor: (last: T) => string): Page<T> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return found.length > limit && last !== undefined ? { items, next: cursor(last) } : { items }
}

/** Names a place in a list that is ordered by a time and then by an id. */
export function cursorOf(time: number, id: string): string {
  return JSON.stringify([time, id])
}

/** Throws 400 for anything but a cursor of `cursorOf`. */
export function readCursor(after: string): readonly [time: number, id: string] {
  let parts: unknown
  try {
    parts = JSON.parse(after)
  } catch (error) {
    throw badCursor(error)
  }
  if (!Array.isArray(parts) || parts.length !== 2) throw badCursor()
  const [time, id] = parts as readonly unknown[]
  if (typeof time !== 'number' || typeof id !== 'string' || !id.isWellFormed() || id.includes('\0')) throw badCursor()
  return [time, id]
}

/** Throws 400 for anything but the number of an entry in a ledger's books, as text. */
export function readNumber(after: string): bigint {
  if (!/^\d{1,19}$/.test(after)) throw badCursor()
  const number = BigInt(after)
  if (number > 9_223_372_036_854_775_807n) throw badCursor()
  return number
}

function badCursor(cause?: unknown): GatewayError {
  return invalid('"after" must be the "next" of a page of the same list.', 'after', cause)
}
