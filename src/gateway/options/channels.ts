import type { Alert } from '../../admission/alerts/alert.ts'
import type { Receipt } from '../../money/receipt.ts'
import type { AttemptEvent, Failure } from '../../observe/observe.ts'
import type { TaskEvent } from '../../tasks/services.ts'

/**
 * The channels of `node:diagnostics_channel` by name, with the type of their messages. They carry the same as the hooks, for
 * all gateways of the process; a channel without subscribers costs nothing.
 *
 * @example
 * subscribe('modelhatch:attempt', (message) => {
 *   const { provider, outcome, ms } = message as Channels['modelhatch:attempt']
 * })
 */
export interface Channels {
  /** A request to a model, or a video task, has ended. */
  'modelhatch:receipt': Receipt
  /** An attempt at a deployment has ended. */
  'modelhatch:attempt': AttemptEvent
  /** A response had status 500 or above, or work behind a response failed. */
  'modelhatch:failure': Failure
  /** A video task was created or has ended, or needs attention. */
  'modelhatch:task': TaskEvent
  /** A cap or a balance has reached a threshold. Published at least once, by any process of those that share the ledger. */
  'modelhatch:alert': Alert
}
