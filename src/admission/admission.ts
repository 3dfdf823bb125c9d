/**
 * What a call costs its caller: limits, money, and the record of it. Everything that has to be asked of a store before
 * the vendor is called is asked in one step, and nothing is waited for after the answer.
 */
import type { Caller } from '../auth/contract.ts'
import { disconnectDefaults, type DisconnectPolicy } from '../billing/disconnect.ts'
import type { Ledger } from '../billing/contract.ts'
import type { BillingOptions } from '../billing/options.ts'
import { parseRatio, ratioOne } from '../billing/price.ts'
import type { LimitStore } from '../limits/contract.ts'
import { Known } from '../limits/known.ts'
import { memoryLimitStore } from '../limits/memory.ts'
import type { LimitOptions } from '../limits/options.ts'
import { callerScopes } from './scopes.ts'
import type { Groups } from '../models/access.ts'
import type { Model } from '../models/contract.ts'
import { publishFailure } from '../observe.ts'
import { counters, type Counters } from './counters.ts'
import type { JointStore } from '../options/storage.ts'
import { Guard } from '../store-access/guard.ts'
import { Queue } from '../store-access/queue.ts'
import type { UsageRecord, UsageStore } from '../usage/contract.ts'
import type { UsageOptions } from '../usage/options.ts'
import { Endings } from './endings.ts'
import { Entry } from './entry.ts'
import { Leases } from './leases.ts'

export interface AdmissionOptions {
  readonly groups: Groups
  readonly limits: LimitStore
  readonly limitOptions: LimitOptions
  /** Some model may have limits of its own. */
  readonly modelRates: boolean
  /** Absent: nobody pays. */
  readonly ledger?: Ledger | undefined
  readonly joint?: JointStore | undefined
  readonly billing: BillingOptions
  /** Absent: nothing is recorded. */
  readonly usage?: UsageStore | undefined
  readonly usageOptions: UsageOptions
  /** Milliseconds to wait for a store before a call is refused. */
  readonly timeoutMs: number
  readonly now: () => number
}

export class Admission {
  readonly known: Known
  readonly counters: Counters
  /** Limits of this process alone, for the time that the store is down; undefined where calls are then refused. */
  readonly local: LimitStore | undefined
  readonly leases: Leases
  readonly options: AdmissionOptions
  readonly endings: Endings
  readonly records: Queue<UsageRecord> | undefined
  /** Records that were given up. */
  droppedRecords = 0
  readonly #ratios: ReadonlyMap<string, bigint>
  readonly #always: boolean

  constructor(options: AdmissionOptions) {
    const { groups, limits, limitOptions, ledger, joint, usage, usageOptions, timeoutMs, now } = options
    this.options = options
    this.known = new Known(now)
    this.local = limitOptions.whenDown === 'local' ? memoryLimitStore({ now }) : undefined
    this.counters = counters({ limits, local: this.local, ledger, joint, timeoutMs, now })
    this.leases = new Leases({ limits, ledger, timeoutMs, now, leaseMs: this.leaseMs })
    this.#always = options.modelRates || ledger !== undefined || usage !== undefined
    this.#ratios = new Map(
      Object.entries(groups).map(([name, { priceMultiplier }]) => [name, parseRatio(priceMultiplier ?? '1')] as const),
    )
    this.endings = new Endings(this.counters)
    if (usage === undefined) return
    const guard = new Guard({ name: 'the usage store', timeoutMs: timeoutMs * 5, now })
    this.records = new Queue<UsageRecord>({
      send: (batch) => guard.call(() => usage.append(batch)),
      most: usageOptions.queue ?? 10_000,
      dropped: ({ id }, error) => {
        this.droppedRecords++
        publishFailure({ id, error })
      },
    })
  }

  /** Milliseconds for which places and money are held without a sign of life. */
  get leaseMs(): number {
    const { billing, limitOptions } = this.options
    return Math.min(billing.leaseMs ?? 60_000, limitOptions.leaseMs ?? 60_000)
  }

  /**
   * The limits that are known without asking: throws 429 before anything of the request is read. Undefined for a call
   * that costs its caller nothing.
   */
  enter(id: string, caller: Caller): Entry | undefined {
    const scopes = callerScopes(caller, this.options.groups)
    return scopes.length === 0 && !this.#always ? undefined : new Entry(this, id, caller, scopes)
  }

  /** Calls are refused before a charge or a record of them would be lost. `pays`: the call may cost something. */
  isOverflowing(pays: boolean): boolean {
    const { usageOptions } = this.options
    if (pays && this.endings.overflowing) return true
    return usageOptions.whenFull === 'refuse' && this.records?.full === true
  }

  ratioOf(group: string): bigint {
    return this.#ratios.get(group) ?? ratioOne
  }

  disconnectPolicy(model: Model): DisconnectPolicy {
    return model.onDisconnect ?? this.options.billing.onDisconnect ?? disconnectDefaults
  }

  /** Milliseconds for which a call is read on when its client has left; 0: not at all. */
  drainMs(model: Model): number {
    const { vendor = disconnectDefaults.vendor, drainMs = disconnectDefaults.drainMs } = this.disconnectPolicy(model)
    return vendor === 'drain' ? drainMs : 0
  }

  /** Tells the stores what is still untold: the ledger within `settleMs`, the store of usage within `ms`. */
  async close(settleMs: number, ms: number): Promise<void> {
    this.leases.close()
    // First of all, so that the money is not given back even if there is no time to charge it.
    this.leases.keep(this.endings.unsettled)
    await Promise.all([this.endings.drain(settleMs, ms), this.records?.drain(ms)])
  }
}
