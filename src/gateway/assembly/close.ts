import { GatewayError } from '../../errors.ts'
import { within } from '../../http/deadline.ts'

/** A part that may have resources to release. */
export interface Closing {
  close?: () => unknown
}

/** Timeout in milliseconds for closing one part. */
export const closeMs = 5_000

/** Closes all parts. Ignores failures and timeouts, so that the host can shut down. */
export async function closeAll(parts: readonly Closing[]): Promise<void> {
  const closed = parts.map((part) => Promise.resolve().then(() => part.close?.()))
  await Promise.allSettled(closed.map((each) => within(closeMs, each, 'close()')))
}

export function closingError(): GatewayError {
  return new GatewayError('service_unavailable', {
    message: 'The server is restarting. Try again.',
    retryAfterMs: 1_000,
    fault: 'gateway_closing',
  })
}
