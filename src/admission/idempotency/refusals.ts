import { GatewayError } from '../../errors.ts'

export function anotherRequest(): GatewayError {
  return new GatewayError('conflict', {
    message: 'This "Idempotency-Key" was used for another request. Use a new key for a new request.',
    shouldRetry: false,
  })
}

export function inProgress(): GatewayError {
  return new GatewayError('conflict', {
    message: 'A request with this "Idempotency-Key" is in progress. Retry after it has ended.',
    shouldRetry: true,
    retryAfterMs: 1_000,
  })
}

export function notKept(): GatewayError {
  return new GatewayError('conflict', {
    message:
      'The request with this "Idempotency-Key" has completed, but its response was too large to be stored. Use a new key to send it again.',
    shouldRetry: false,
  })
}
