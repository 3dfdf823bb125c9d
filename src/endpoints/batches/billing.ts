/** The money of batches: each request has a hold, a charge and a usage record of its own, as if it were sent alone. */
import type { Admission } from '../../admission/admission.ts'
import type { Demand } from '../../admission/demand.ts'
import { boundsOf } from '../../admission/plausible-usage.ts'
import { admissionRequest, demandOf } from '../../admission/request-demand.ts'
import { Ticket, type DurableEnd } from '../../admission/ticket.ts'
import type { Caller } from '../../callers/contract.ts'
import { GatewayError } from '../../errors.ts'
import type { Model } from '../../models/contract.ts'
import type { CapState } from '../../money/caps/contract.ts'
import type { Hold, HoldVerdict, Ledger } from '../../money/ledger/contract.ts'
import type { Receipt } from '../../money/receipt.ts'
import type { Guard } from '../../records/guard.ts'
import { countedCaps, countedStates } from '../videos/caps.ts'
import type { CallEndpoint, Order } from '../endpoint.ts'
import { mapConcurrently } from '../concurrency.ts'
import { lineId, type BatchLine, type BatchTask, type StoredBatch } from './batch-task.ts'

export interface BatchBillingOptions {
  readonly admission: Admission
  /** Undefined without billing. */
  readonly ledger: Ledger | undefined
  readonly guard: Guard
  /** Ends a hold and records the use. May be called again for the same one. */
  readonly settle: (end: DurableEnd) => Promise<void>
}

/** Holds at the same time: stores join them into few statements. */
const atOnce = 64
/** Holds that are renewed in one call. */
const renewedAtOnce = 500
/** Milliseconds to wait for the usage store. */
const recordedMs = 5_000

/** What the holds of a batch leave in it. */
export type BatchHolds = Pick<BatchTask, 'counted'> & { readonly lines: readonly BatchLine[] }

type OpenHold = Pick<Hold, 'id' | 'account'>

export class BatchBilling {
  readonly #options: BatchBillingOptions

  constructor(options: BatchBillingOptions) {
    this.#options = options
  }

  /** What a request draws. Throws a 400 for what has no price or cannot be bounded, a 503 for a model without a price. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each endpoint has its own types of request and response
  demand(id: string, caller: Caller, endpoint: CallEndpoint<any, any>, order: Order<unknown>, model: Model): Demand {
    const { admission } = this.#options
    return demandOf(
      admission,
      admissionRequest(admission, { id, caller, scopes: [] }, endpoint, order, model),
      endpoint,
      true,
    )
  }

  /** Holds the most that the requests can cost for `leaseMs`: all, or none. Rejects with the refusal of the first that does not fit. */
  async hold(lines: readonly BatchLine[], demands: readonly Demand[], leaseMs: number): Promise<BatchHolds> {
    const { admission } = this.#options
    if (admission.isOverflowing(true))
      throw new GatewayError('service_unavailable', { retryAfterMs: 1_000, fault: 'gateway_overloaded' })
    const counted: string[] = []
    const asked: Hold[] = []
    const hold = async (line: BatchLine, index: number): Promise<BatchLine> => {
      const demand = demands[index] as Demand
      if (demand.hold !== undefined) asked.push(demand.hold)
      const verdict = await this.#hold(demand, leaseMs)
      if (verdict?.caps === undefined) return line
      const caps = JSON.stringify(countedCaps(verdict.caps))
      if (!counted.includes(caps)) counted.push(caps)
      return { ...line, caps: counted.indexOf(caps) }
    }
    try {
      const held = await mapConcurrently(lines, atOnce, new AbortController().signal, hold)
      return { lines: held, counted: counted.map((caps) => JSON.parse(caps) as BatchHolds['counted'][number]) }
    } catch (error) {
      // Those that are still being asked for, too: a hold that arrives after its release has no effect.
      await this.#release(asked)
      throw error
    }
  }

  async #hold({ hold, caps }: Demand, leaseMs: number): Promise<HoldVerdict | undefined> {
    const { ledger, guard, admission } = this.#options
    if (ledger === undefined || hold === undefined) return undefined
    const durable = { ...hold, leaseMs, durable: true }
    const since = performance.now()
    let verdict = await guard.call(() => ledger.hold(durable))
    if (admission.settlements.waitMs > 0 && (await admission.mayFit(hold, undefined, verdict))) {
      await admission.settlements.returnedByAll(since)
      verdict = await guard.call(() => ledger.hold(durable))
    }
    if (verdict.outcome === 'insufficient' && (await admission.expiry?.renews(hold.account)))
      verdict = await guard.call(() => ledger.hold(durable))
    if (verdict.outcome === 'capped') throw admission.caps.refusal(caps, verdict, hold)
    if (verdict.outcome === 'insufficient') throw new GatewayError('insufficient_quota')
    return verdict
  }

  /** Extends the holds of a stored batch. */
  async keep(batch: StoredBatch, leaseMs: number): Promise<void> {
    const { ledger, guard } = this.#options
    const holds = this.#holdsOf(batch)
    if (ledger === undefined) return
    for (let at = 0; at < holds.length; at += renewedAtOnce) {
      const some = holds.slice(at, at + renewedAtOnce)
      await guard.call(() => ledger.renew(some, leaseMs))
    }
  }

  /** Ends all holds of a batch without a charge. Holds that have ended stay as they are. */
  async release(batch: StoredBatch): Promise<void> {
    await this.#release(this.#holdsOf(batch))
  }

  #holdsOf({ account, data }: StoredBatch): readonly OpenHold[] {
    const held = data.lines.filter((line) => line.held !== undefined)
    return held.map((line) => ({ id: lineId(data, line.id), account }))
  }

  async #release(holds: readonly OpenHold[]): Promise<void> {
    const { ledger, guard } = this.#options
    if (ledger === undefined) return
    const release = async ({ id, account }: OpenHold) => guard.call(() => ledger.release({ id, account }))
    await mapConcurrently(holds, atOnce, new AbortController().signal, release)
  }

  /** Charges a request that has ended, or releases its hold. May be called again. Returns the receipt with its charge. */
  async settle(batch: StoredBatch, line: BatchLine, model: Model, receipt: Receipt): Promise<Receipt> {
    const { admission, settle } = this.#options
    const { account, data } = batch
    const caller = callerOf(batch)
    const id = lineId(data, line.id)
    const counted = line.caps === undefined ? undefined : data.counted[line.caps]
    const caps = counted === undefined ? [] : admission.caps.of(caller, model.id)
    const states = counted && (countedStates(counted) as readonly CapState[])
    const bounds = boundsOf({ bytes: 0, outputTokens: line.out, choices: 1, writes: true, units: {} }, model)
    const hold = { id, account, amount: BigInt(line.held ?? 0), leaseMs: 0, ...(states && { caps: [] }) }
    const ticket = new Ticket(admission, { id, caller, leave() {} }, model, {
      claim: undefined,
      rates: [],
      hold: line.held === undefined ? undefined : hold,
      bounds,
      promptTokens: 0,
      hasFiles: false,
      caps,
      multiplier: BigInt(data.multiplier),
    })
    ticket.held = { outcome: 'held', balance: 0n, ...(states && { caps: states }) }
    let end: DurableEnd = {}
    ticket.keeper = { keep: (kept) => (end = kept) }
    const charged = ticket.close(receipt, { ended: async () => undefined })
    await settle(end)
    return charged
  }

  /** Waits until what was settled is recorded, or the usage store is too slow. */
  async recorded(): Promise<void> {
    await this.#options.admission.records?.idle(recordedMs)
  }
}

function callerOf({ account, data }: StoredBatch): Caller {
  const { group, key, user, userIsKnown, tags, callerCaps } = data
  return {
    account,
    group,
    ...(key !== undefined && { key }),
    ...(userIsKnown === true && user !== undefined && { user }),
    ...(tags !== undefined && { tags }),
    ...(callerCaps !== undefined && { caps: callerCaps }),
  }
}
