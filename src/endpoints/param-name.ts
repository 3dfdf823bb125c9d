import { GatewayError } from '../errors.ts'
import { ProviderError } from '../providers/failure.ts'

/** A copy of an error that names another field, as the client sent it; the same error if it already names that one. */
export function withParam(error: GatewayError, param: string): GatewayError {
  if (param === error.param) return error
  const message = error.message.replaceAll(`"${error.param}"`, `"${param}"`)
  if (error instanceof ProviderError) return error.with({ message, param })
  const { code, cause, shouldRetry, headers, fault } = error
  const details = { message, param, cause, headers, fault, ...(shouldRetry !== undefined && { shouldRetry }) }
  return new GatewayError(code, details)
}
