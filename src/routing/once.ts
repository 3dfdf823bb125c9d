/** For work that costs each time it is begun, such as images. */
import { GatewayError } from '../errors.ts'
import { ProviderError } from '../providers/failure.ts'

/**
 * Throws the failure on. Where the vendor may have begun to work, neither we nor the client's own retries may send the
 * request a second time.
 */
export function notAgain(thrown: unknown): never {
  if (thrown instanceof ProviderError && !thrown.begun) throw thrown
  const error = GatewayError.from(thrown)
  if (error.status < 500) throw thrown
  const { code, message, retryAfterMs, headers, cause = thrown } = error
  throw new ProviderError(code, {
    retry: 'never',
    message,
    cause,
    headers,
    shouldRetry: false,
    ...(retryAfterMs && { retryAfterMs }),
  })
}
