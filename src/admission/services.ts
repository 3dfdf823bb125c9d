import { GatewayError } from '../errors.ts'
import type { CapClaim } from '../money/caps/contract.ts'
import { disconnectDefaults, type DisconnectPolicy } from '../money/disconnect.ts'
import type { Hold, Ledger } from '../money/ledger/contract.ts'
import type { BillingOptions } from '../money/options.ts'
import { parsePriceMultiplier } from '../money/prices/price.ts'
import { multiplierOne } from '../money/prices/rate.ts'
import type { LimitClaim, LimitStore } from '../money/limits/contract.ts'
import { askingLots } from '../money/lots/credits.ts'
import { Exporter } from '../money/export/exporter.ts'
import { CreditExpiry } from '../money/lots/expiry.ts'
import { ReachedLimits } from '../money/limits/reached-limits.ts'
import { memoryLimitStore } from '../money/limits/memory.ts'
import type { LimitOptions } from '../money/limits/options.ts'
import type { Group, Groups } from '../models/group-fields.ts'
import type { Model } from '../models/contract.ts'
import type { Observer } from '../observe/observe.ts'
import { CapHolds } from './cap-holds.ts'
import { counters, type Counters, type CountersVerdict } from './counters.ts'
import type { Demand } from './demand.ts'
import type { AdmissionStore } from './contract.ts'
import { Speeds } from './hidden-tokens.ts'
import { Guard } from '../records/guard.ts'
import { Queue } from '../records/queue.ts'
import type { UsageStore } from '../observe/usage/contract.ts'
import type { UsageOptions } from '../observe/usage/options.ts'
import { Retention } from '../observe/usage/retention.ts'
import { NamedUsers, type Recording } from '../observe/usage/users.ts'
import { SettlementQueue } from './settlement-queue.ts'
import { Leases } from './leases.ts'
import { mightFit } from './room.ts'
import { UsualTokens } from './usual-tokens.ts'
import { UnratedUsage } from './unrated.ts'
import { UserlessCaps } from './userless-caps.ts'
import { CostDrift } from './cost-drift.ts'

export interface AdmissionOptions {
  readonly groups: Groups
  readonly limits: LimitStore
  readonly limitOptions: LimitOptions
  /** Whether a model may have limits of its own. */
  readonly modelRates: boolean
  /** Absent: nothing is charged. */
  readonly ledger?: Ledger | undefined
  readonly admission?: AdmissionStore | undefined
  readonly billing: Partial<BillingOptions>
  /** Of charges, and of what calls cost the host. */
  readonly currency?: string | undefined
  /** Units of it for one US dollar; undefined if that is not known. */
  readonly dollarRate?: number | undefined
  /** Absent: no usage is recorded. */
  readonly usage?: UsageStore | undefined
  readonly usageOptions: UsageOptions
  /** Milliseconds to wait for a store before a request is rejected. */
  readonly timeoutMs: number
  /** Milliseconds, monotonic; only differences count. */
  readonly now: () => number
  /** Milliseconds since the epoch. */
  readonly time: () => number
  readonly observer: Observer
}

/** Default of `billing.journalMs`. */
const usualJournalMs = 250
/** Milliseconds by which usage records are sent earlier than charges that wait. */
const aheadMs = 10

/** Milliseconds for which slices last: longer than charges wait, because calls of one process may follow each other less closely. */
function sliceMs(journalMs: number): number {
  return Math.min(2 * journalMs, Math.max(journalMs, 1_000))
}

/** What all requests share: the options, the stores, and the queues of what is still to be written. */
export class AdmissionServices {
  readonly reached: ReachedLimits
  readonly counters: Counters
  /** Limits of this process alone, used while the limit store is down; undefined if requests are then rejected. */
  readonly local: LimitStore | undefined
  readonly leases: Leases
  readonly caps: CapHolds
  readonly speeds: Speeds = new Speeds()
  readonly usualTokens: UsualTokens = new UsualTokens()
  readonly options: AdmissionOptions
  readonly settlements: SettlementQueue
  /** Undefined if the ledger keeps no money that expires. */
  readonly expiry: CreditExpiry | undefined
  /** Undefined without `billing.export`. */
  readonly exporter: Exporter | undefined
  readonly unrated: UnratedUsage
  readonly userless: UserlessCaps
  readonly drift: CostDrift
  readonly records: Queue<Recording> | undefined
  /** Deletes old usage records. Undefined if they are kept for ever. */
  readonly retention: Retention | undefined
  /** Number of usage records that were dropped. */
  droppedRecords = 0
  readonly #ledgerGuard: Guard
  readonly #multipliers = new WeakMap<Group, bigint>()

  constructor(options: AdmissionOptions) {
    const { limits, limitOptions, ledger, admission, usage, usageOptions, timeoutMs, now, observer } = options
    const failed = observer.storeFailed
    this.options = options
    this.reached = new ReachedLimits(now)
    this.local = limitOptions.whenDown === 'local' ? memoryLimitStore({ clock: now }) : undefined
    const { journalMs = usualJournalMs } = options.billing
    const shared = { timeoutMs, now, failed }
    this.counters = counters({ limits, local: this.local, ledger, admission, slicesMs: sliceMs(journalMs), ...shared })
    this.leases = new Leases({ limits, ledger, ...shared, leaseMs: this.leaseMs })
    this.caps = new CapHolds(options)
    this.#ledgerGuard = new Guard({ name: 'the ledger', timeoutMs, now, failed })
    this.unrated = new UnratedUsage(observer)
    this.userless = new UserlessCaps(options)
    this.drift = new CostDrift(observer, options.dollarRate)
    const ask = askingLots(ledger, this.#ledgerGuard)
    this.expiry = ask && new CreditExpiry({ ask, now: options.time })
    const { export: sink } = options.billing
    const failedExport = (account: string, error: unknown) => observer.failure({ id: `export ${account}`, error })
    this.exporter = ask && sink && new Exporter({ ask, sink, now: options.time, failed: failedExport })
    this.settlements = new SettlementQueue(this.counters, observer, {
      waitMs: journalMs,
      answerMs: this.endsStored ? timeoutMs : 0,
    })
    if (usage === undefined) return
    const guard = new Guard({ name: 'the usage store', timeoutMs: timeoutMs * 5, now, failed })
    const users = new NamedUsers(usage, usageOptions.maxUsers ?? 1_000)
    const { keepMs } = usageOptions
    if (keepMs !== undefined && usage.removeBefore !== undefined) {
      const removeBefore = usage.removeBefore.bind(usage)
      this.retention = new Retention({
        store: { removeBefore: (before, most) => guard.call(() => removeBefore(before, most)) },
        keepMs,
        now: options.time,
        failed: (error) => observer.failure({ id: 'usage.keepMs', error }),
      })
    }
    const append = (batch: readonly Recording[]) => {
      this.retention?.use()
      const records = users.recordsOf(batch)
      return records instanceof Promise ? records.then((all) => usage.append(all)) : usage.append(records)
    }
    this.records = new Queue<Recording>({
      send: (batch) => {
        if (this.records?.isAsync === true) this.settlements.hurry()
        return guard.call(() => append(batch))
      },
      // Before that of charges, which are sent with it: a database writes both in one statement.
      waitMs: Math.max(0, journalMs - aheadMs),
      most: usageOptions.queue ?? 10_000,
      dropped: ({ record: { id } }, error) => {
        this.droppedRecords++
        observer.dropped('usage')
        observer.failure({ id, error })
      },
    })
  }

  /** An account is charged: credits of any may have expired, and entries of it are to be exported. */
  charged(account: string): void {
    this.expiry?.use()
    this.exporter?.use(account)
  }

  /** Whether an answer ends only once its charge is stored. */
  get endsStored(): boolean {
    return this.options.billing.durability === 'full'
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

  /** Throws a 503 while a charge or a usage record could be lost. `pays`: the request may cost something. */
  requireQueueRoom(pays: boolean): void {
    const { usageOptions } = this.options
    const isFull = usageOptions.whenFull === 'refuse' && this.records?.full === true
    if (isFull || (pays && this.settlements.overflowing))
      throw new GatewayError('service_unavailable', { retryAfterMs: 1_000, fault: 'gateway_overloaded' })
  }

  /** The factor on the prices of a group now. What was admitted keeps its own. */
  multiplierOf(name: string): bigint {
    const { groups } = this.options
    const group = Object.hasOwn(groups, name) ? groups[name] : undefined
    if (group?.priceMultiplier === undefined) return multiplierOne
    let multiplier = this.#multipliers.get(group)
    if (multiplier === undefined)
      this.#multipliers.set(group, (multiplier = parsePriceMultiplier(group.priceMultiplier)))
    return multiplier
  }

  /**
   * Asks again for a call that was refused, while it may fit once all processes have told what has ended, and then once all slices
   * have gone back. `since`: when it was asked for first, as of `performance.now()`.
   */
  async retried<Verdict extends CountersVerdict>(
    { claim, hold }: Pick<Demand, 'claim' | 'hold'>,
    since: number,
    refused: Verdict,
    ask: () => Promise<Verdict> | Verdict,
  ): Promise<Verdict> {
    const slowMs = performance.now() - since
    let verdict = refused
    for (const ms of new Set([this.settlements.waitMs, this.counters.slicesMs])) {
      if (ms === 0 || !(await this.mayFit(claim, hold, verdict, ms > this.settlements.waitMs))) continue
      await this.settlements.returnedByAll(since, ms, slowMs)
      verdict = await ask()
    }
    return verdict
  }

  /** Whether a refused call would fit if all open calls returned what they hold; with `ofSlices`, if slices did. */
  async mayFit(
    claim: LimitClaim | undefined,
    hold: Hold | undefined,
    { limits, hold: held, local }: CountersVerdict,
    ofSlices: boolean = false,
  ): Promise<boolean> {
    const { ledger } = this.options
    const account = async (id: string) => this.#ledgerGuard.call(() => ledger?.account(id))
    const caps = async (claims: readonly CapClaim[]) => this.#ledgerGuard.call(() => ledger?.caps?.read(claims) ?? [])
    return local !== true && mightFit(ofSlices, claim, hold, limits, held, account, caps)
  }

  disconnectPolicy(model: Model): DisconnectPolicy {
    return model.onDisconnect ?? this.options.billing.onDisconnect ?? disconnectDefaults
  }
}
