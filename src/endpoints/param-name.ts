import { GatewayError } from '../errors.ts'
import { ProviderError } from '../providers/failure.ts'

/** A copy of an error that names another field, as the client sent it; the same error if it already names that one. */
export function withParam(error: GatewayError, param: string): GatewayError {
  if (param === error.param) return error
  const message = error.message.replaceAll(`"${error.param}"`, `"${param}"`)
  const { code, cause, shouldRetry, headers, fault } = error
  const details = { message, param, cause, headers, fault, ...(shouldRetry !== undefined && { shouldRetry }) }
  if (!(error instanceof ProviderError)) return new GatewayError(code, details)
  const { retry, begun, vendorWaitMs, vendorStatus } = error
  return new ProviderError(code, {
    ...details,
    retry,
    begun,
    vendorWaitMs,
    ...(vendorStatus !== undefined && { vendorStatus }),
  })
}
