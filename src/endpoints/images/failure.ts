/** Errors of image generation. */
import { GatewayError } from '../../errors.ts'
import { ProviderError } from '../../providers/failure.ts'

const message = 'The image generation failed. Change the prompt and try again.'

/**
 * The error to throw for a failed generation: a 500 if the vendor started it and failed. Unchanged if the vendor
 * rejected the request, never received it, or was unavailable (503).
 */
export function generationFailure(thrown: unknown): unknown {
  if (thrown instanceof ProviderError) {
    const { vendorStatus = 503 } = thrown
    return thrown.begun && vendorStatus >= 500 && vendorStatus !== 503 ? failed(thrown) : thrown
  }
  return GatewayError.is(thrown) ? thrown : failed(thrown)
}

/**
 * The error for a generation that failed at the vendor. Clients are advised not to retry, because attempts cost money.
 */
export function failed(cause: unknown): ProviderError {
  return new ProviderError('server_error', { retry: 'next', message, cause, shouldRetry: false })
}
