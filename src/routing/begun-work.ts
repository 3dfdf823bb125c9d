/** For work that costs each time it is begun, such as images. */
import { GatewayError } from '../errors.ts'
import { ProviderError } from '../providers/failure.ts'

/** Whether the vendor may have begun to work before it failed, so that a second request could be paid for twice. */
export function mayHaveBegun(thrown: unknown): boolean {
  if (thrown instanceof ProviderError && !thrown.begun) return false
  return GatewayError.from(thrown).status >= 500
}

/** Throws the failure on; one after which the vendor may have begun tells the client's own retries to stay away. */
export function notAgain(thrown: unknown): never {
  if (!mayHaveBegun(thrown)) throw thrown
  const { code, message, retryAfterMs, headers, cause = thrown } = GatewayError.from(thrown)
  throw new GatewayError(code, {
    message,
    cause,
    headers,
    shouldRetry: false,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}
