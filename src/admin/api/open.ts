import { GatewayError } from '../../errors.ts'
import type { AdministeredGateway } from './route.ts'

/** Throws a 503 once the gateway is being closed: a request would open stores again that it has closed. */
export function requireOpen(gateway: Pick<AdministeredGateway, 'isClosing'>): void {
  if (!gateway.isClosing()) return
  const message = 'The server is restarting. Try again.'
  throw new GatewayError('service_unavailable', { message, retryAfterMs: 1_000, fault: 'gateway_closing' })
}
