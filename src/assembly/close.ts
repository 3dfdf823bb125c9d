/** The end of a gateway. */
import { GatewayError } from '../errors.ts'
import { within } from '../http/deadline.ts'

/** Whatever may hold something back. */
export interface Closing {
  close?: () => unknown
}

/** Milliseconds for which a part may take to close. */
export const closeMs = 5_000

/** A part that does not close in time, or cannot, must not keep the host from closing. */
export async function closeAll(parts: readonly Closing[]): Promise<void> {
  const closed = parts.map((part) => Promise.resolve().then(() => part.close?.()))
  await Promise.allSettled(closed.map((each) => within(closeMs, each, 'close()')))
}

export function closingError(): GatewayError {
  return new GatewayError('service_unavailable', {
    message: 'The server is restarting. Try again.',
    retryAfterMs: 1_000,
  })
}
