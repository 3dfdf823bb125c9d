import type { Connections } from '../../http/connections.ts'
import type { Assembly } from './assemble.ts'
import { closeAll, closeMs, closingError, type Closing } from './close.ts'

/** Options of `gateway.close`. */
export interface CloseOptions {
  /** Milliseconds that requests in progress have to finish; then streams end with an error event. Default 10,000. */
  readonly graceMs?: number
  /**
   * Milliseconds that the ledger has to settle finished requests, however short `graceMs` is. Default 10,000. What is
   * not settled by then stays held for a day and is published to `modelhatch:failure` as `unsettled`.
   */
  readonly settleMs?: number
}

/** Ends the requests in progress, sends what is queued, and closes stores and providers. See `Gateway.close`. */
export async function shutDown(
  { calls, services, batches, admission, refused, content, alerts, owned, observer }: Assembly,
  connections: Connections,
  storage: Closing,
  { graceMs, settleMs }: Required<CloseOptions>,
): Promise<void> {
  connections.retire()
  await calls.emptied(graceMs)
  calls.cut(closingError())
  // The last bytes are still in the host's streams: a server that closed before they were sent would wait for its
  // keep-alive timeout.
  await new Promise((resolve) => setImmediate(resolve))
  // Tasks settle their cost through the ledger, so they end before it.
  await closeAll([services.videos, services.background, ...batches])
  const usageMs = Math.min(closeMs, graceMs + 1_000)
  await Promise.all([admission.close(settleMs, usageMs), refused?.close(usageMs), content?.close(usageMs)])
  if (alerts !== undefined) await closeAll([alerts])
  await closeAll(owned)
  await closeAll([storage])
  observer.flush()
}
