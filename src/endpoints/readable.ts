/** Reading what a provider gave: a shape that cannot be read is a fault of the vendor, and another one may do better. */
import { tryNext } from '../providers/failure.ts'

/** What `read` gives. A `TypeError` or `RangeError` in it becomes a 503 with the error as its cause. */
export function readable<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw unreadable(error)
  }
}

/** For a `catch` around more than one call. */
export function unreadable(error: unknown): unknown {
  return error instanceof TypeError || error instanceof RangeError ? tryNext(error) : error
}
