import { GatewayError } from '../errors.ts'
import { ProviderError } from '../providers/failure.ts'

/** Whether the vendor may have started work before it failed, so that a retry could be charged twice. */
export function mayHaveBegun(thrown: unknown): boolean {
  if (thrown instanceof ProviderError && !thrown.begun) return false
  return GatewayError.from(thrown).status >= 500
}

/** Rethrows a failure. If the vendor may have started work, the error tells the client not to retry. */
export function notAgain(thrown: unknown): never {
  if (!mayHaveBegun(thrown)) throw thrown
  if (thrown instanceof ProviderError) throw thrown.with({ shouldRetry: false })
  const { code, message, retryAfterMs, headers, fault, cause = thrown } = GatewayError.from(thrown)
  throw new GatewayError(code, {
    message,
    cause,
    headers,
    fault,
    shouldRetry: false,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}
