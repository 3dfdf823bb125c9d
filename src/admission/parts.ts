import { disconnectDefaults, type DisconnectPolicy } from '../billing/disconnect.ts'
import type { Ledger } from '../billing/contract.ts'
import type { BillingOptions } from '../billing/options.ts'
import { parsePriceMultiplier, multiplierOne } from '../billing/price.ts'
import type { LimitStore } from '../limits/contract.ts'
import { Known } from '../limits/known.ts'
import { memoryLimitStore } from '../limits/memory.ts'
import type { LimitOptions } from '../limits/options.ts'
import type { Groups } from '../models/access.ts'
import type { Model } from '../models/contract.ts'
import type { Observer } from '../observing/observe.ts'
import { counters, type Counters } from './counters.ts'
import type { JointStore } from './contract.ts'
import { Guard } from '../store-access/guard.ts'
import { Queue } from '../store-access/queue.ts'
import type { UsageRecord, UsageStore } from '../usage/contract.ts'
import type { UsageOptions } from '../usage/options.ts'
import { Endings } from './endings.ts'
import { Leases } from './leases.ts'

export interface AdmissionOptions {
  readonly groups: Groups
  readonly limits: LimitStore
  readonly limitOptions: LimitOptions
  /** Whether a model may have limits of its own. */
  readonly modelRates: boolean
  /** Absent: nothing is charged. */
  readonly ledger?: Ledger | undefined
  readonly joint?: JointStore | undefined
  readonly billing: Partial<BillingOptions>
  /** Absent: no usage is recorded. */
  readonly usage?: UsageStore | undefined
  readonly usageOptions: UsageOptions
  /** Milliseconds to wait for a store before a request is rejected. */
  readonly timeoutMs: number
  readonly now: () => number
  readonly observer: Observer
}

/** What all requests share: the options, the stores, and the queues of what is still to be written. */
export class AdmissionParts {
  readonly known: Known
  readonly counters: Counters
  /** Limits of this process alone, used while the limit store is down; undefined if requests are then rejected. */
  readonly local: LimitStore | undefined
  readonly leases: Leases
  readonly options: AdmissionOptions
  readonly endings: Endings
  readonly records: Queue<UsageRecord> | undefined
  /** Number of usage records that were dropped. */
  droppedRecords = 0
  readonly #multipliers: ReadonlyMap<string, bigint>

  constructor(options: AdmissionOptions) {
    const { groups, limits, limitOptions, ledger, joint, usage, usageOptions, timeoutMs, now, observer } = options
    this.options = options
    this.known = new Known(now)
    this.local = limitOptions.whenDown === 'local' ? memoryLimitStore({ clock: now }) : undefined
    this.counters = counters({ limits, local: this.local, ledger, joint, timeoutMs, now })
    this.leases = new Leases({ limits, ledger, timeoutMs, now, leaseMs: this.leaseMs })
    this.#multipliers = new Map(
      Object.entries(groups).map(
        ([name, { priceMultiplier }]) => [name, parsePriceMultiplier(priceMultiplier ?? '1')] as const,
      ),
    )
    this.endings = new Endings(this.counters, observer)
    if (usage === undefined) return
    const guard = new Guard({ name: 'the usage store', timeoutMs: timeoutMs * 5, now })
    this.records = new Queue<UsageRecord>({
      send: (batch) => guard.call(() => usage.append(batch)),
      most: usageOptions.queue ?? 10_000,
      dropped: ({ id }, error) => {
        this.droppedRecords++
        observer.failure({ id, error })
      },
    })
  }

  /** Whether every request has something to draw, to hold or to record, whatever its limits. */
  get needsEntry(): boolean {
    const { modelRates, ledger, usage } = this.options
    return modelRates || ledger !== undefined || usage !== undefined
  }

  /** Duration of the leases of concurrency slots and holds, in milliseconds. */
  get leaseMs(): number {
    const { billing, limitOptions } = this.options
    return Math.min(billing.leaseMs ?? 60_000, limitOptions.leaseMs ?? 60_000)
  }

  /** Whether requests must be rejected because a charge or a usage record could be lost. `pays`: the request may cost something. */
  isOverflowing(pays: boolean): boolean {
    const { usageOptions } = this.options
    if (pays && this.endings.overflowing) return true
    return usageOptions.whenFull === 'refuse' && this.records?.full === true
  }

  multiplierOf(group: string): bigint {
    return this.#multipliers.get(group) ?? multiplierOne
  }

  disconnectPolicy(model: Model): DisconnectPolicy {
    return model.onDisconnect ?? this.options.billing.onDisconnect ?? disconnectDefaults
  }
}
