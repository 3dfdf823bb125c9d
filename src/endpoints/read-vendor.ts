/** Reading malformed data of a vendor fails the attempt and not the request, because another vendor may succeed. */
import { billed, tryNext } from '../providers/failure.ts'
import type { Usage } from '../wire/usage.ts'

/**
 * The result of `read`. A `TypeError` or `RangeError` in it becomes a 503 that lets the next deployment be tried, unless the
 * vendor has reported `usage`, which is then charged.
 */
export function readVendor<T>(read: () => T, usage?: () => Usage | undefined): T {
  try {
    return read()
  } catch (error) {
    throw billed(vendorFault(error), usage?.())
  }
}

/** The same conversion for an error that was caught elsewhere. */
export function vendorFault(error: unknown): unknown {
  return error instanceof TypeError || error instanceof RangeError
    ? tryNext(error, { fault: 'provider_invalid_response' })
    : error
}
