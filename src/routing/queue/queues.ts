import type { Caller } from '../../callers/contract.ts'
import type { Cancellation } from '../../http/cancellation.ts'
import { TimeLimit } from '../../http/time-limit.ts'
import type { Groups } from '../../models/group-fields.ts'
import type { Deployment } from '../../models/contract.ts'
import { ByDeployment } from '../by-deployment.ts'
import { SharedRefusals, type RefusalCounts } from './shared-refusals.ts'
import { VendorQueue, type QueuedCall } from './vendor-queue.ts'

/** How calls share the limit of a vendor. */
export interface FairnessOptions {
  /**
   * How long a call waits for its turn at most, in milliseconds. After it, or at once if it would wait longer, the next deployment
   * is tried, or the client gets a 503 with `retry-after`. Default 2,000.
   */
  readonly maxWaitMs?: number
}

/** The queues in front of the deployments. */
export class VendorQueues {
  readonly #groups: Groups
  readonly #settings: { readonly maxWaitMs: number; readonly longest: TimeLimit }
  readonly #counts: RefusalCounts | undefined
  readonly #queues = new ByDeployment<VendorQueue>()

  /** `counts`: absent if this process counts alone. */
  constructor({ maxWaitMs = 2_000 }: FairnessOptions, groups: Groups, counts?: RefusalCounts) {
    this.#groups = groups
    this.#counts = counts
    this.#settings = { maxWaitMs, longest: new TimeLimit(maxWaitMs) }
  }

  of(deployment: Deployment): VendorQueue {
    return this.#queues.of(deployment, () => {
      const { provider, model, hasOwnKey } = deployment
      const counts = hasOwnKey === true ? undefined : this.#counts
      const sharing = counts && ((heard: () => void) => new SharedRefusals(counts, [provider.name, model], heard))
      return new VendorQueue(this.#settings, sharing)
    })
  }

  call({ account, group }: Caller, promptTokens: number, cancellation: Cancellation): QueuedCall {
    const { weight = 1, priority } = (Object.hasOwn(this.#groups, group) && this.#groups[group]) || {}
    return { account, weight, isBackground: priority === 'background', promptTokens, cancellation }
  }

  /** Stops the timer. */
  close(): void {
    this.#settings.longest.close()
  }
}
