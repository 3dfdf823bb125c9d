/** What a client is told when images could not be made. */
import { GatewayError } from '../../errors.ts'
import { ProviderError } from '../../providers/failure.ts'

const message = 'The image generation failed. Change the prompt and try again.'

/**
 * The failure as the service's specification has it: 500 where the vendor began and failed. What the vendor refused, or
 * never got, or could not take on (503) stays what it is.
 */
export function generationFailure(thrown: unknown): unknown {
  if (thrown instanceof ProviderError) {
    const { vendorStatus = 503 } = thrown
    return vendorStatus >= 500 && vendorStatus !== 503 ? failed(thrown) : thrown
  }
  return GatewayError.is(thrown) ? thrown : failed(thrown)
}

export function failed(cause: unknown): ProviderError {
  return new ProviderError('server_error', { retry: 'next', message, cause, shouldRetry: false })
}
