/** What those are told who repeat a request and cannot have its answer. */
import { GatewayError } from '../errors.ts'

export function anotherRequest(): GatewayError {
  return new GatewayError('conflict', {
    message: 'This "Idempotency-Key" was used for another request. Use a new key for a new request.',
    shouldRetry: false,
  })
}

export function underWay(): GatewayError {
  return new GatewayError('conflict', {
    message: 'A request with this "Idempotency-Key" is under way. Try again when it has ended.',
    shouldRetry: true,
    retryAfterMs: 1_000,
  })
}

export function notKept(): GatewayError {
  return new GatewayError('conflict', {
    message:
      'The request with this "Idempotency-Key" was answered, and the answer was too large to be kept. Use a new key to ask again.',
    shouldRetry: false,
  })
}
