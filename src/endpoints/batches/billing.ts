/** The money of batches: each request has a hold, a charge and a usage record of its own, as if it were sent alone. */
import type { Admission } from '../../admission/admission.ts'
import type { Demand } from '../../admission/demand.ts'
import { holdDurably } from '../../admission/durable-hold.ts'
import { boundsOf } from '../../admission/plausible-usage.ts'
import { admissionRequest, demandOf } from '../../admission/request-demand.ts'
import { Ticket, type DurableEnd } from '../../admission/ticket.ts'
import type { Caller } from '../../callers/contract.ts'
import type { Model } from '../../models/contract.ts'
import type { CapState } from '../../money/caps/contract.ts'
import type { Hold, HoldVerdict, Ledger } from '../../money/ledger/contract.ts'
import type { Receipt } from '../../money/receipt.ts'
import type { Guard } from '../../records/guard.ts'
import type { CallCosts } from '../../observe/contract.ts'
import { callerOf } from '../../tasks/owner.ts'
import { countedStates } from '../videos/caps.ts'
import type { CallEndpoint, Order } from '../endpoint.ts'
import { mapConcurrently } from '../concurrency.ts'
import { lineId, type BatchLine, type StoredBatch } from './batch-task.ts'
import { Holding } from './holding.ts'

export interface BatchBillingOptions {
  readonly admission: Admission
  /** Undefined without billing. */
  readonly ledger: Ledger | undefined
  readonly guard: Guard
  /** Ends a hold and records the use. May be called again for the same one. */
  readonly settle: (end: DurableEnd) => Promise<void>
}

/** Releases at the same time: stores join them into few statements. */
const atOnce = 64
/** Holds that are renewed in one call. */
const renewedAtOnce = 500
/** Milliseconds to wait for the usage store. */
const recordedMs = 5_000

/** A request that was charged or released. */
export interface Settled {
  readonly receipt: Receipt
  readonly costs: CallCosts | undefined
}

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

  /** For the holds of a batch that is made: they end after `leaseMs` unless `keep` extends them. Throws a 503 if too much is queued. */
  holding(account: string, leaseMs: number): Holding {
    const { admission } = this.#options
    admission.requireQueueRoom(true)
    return new Holding({
      hold: (demand) => this.#hold(demand, leaseMs),
      release: (ids) => this.#release(ids.map((id) => ({ id, account }))),
    })
  }

  async #hold({ hold, caps }: Demand, leaseMs: number): Promise<HoldVerdict | undefined> {
    const { guard, admission } = this.#options
    return hold && holdDurably(admission, guard, { ...hold, leaseMs }, caps)
  }

  /** Extends the holds of a stored batch. */
  async keep(batch: StoredBatch, lines: readonly BatchLine[], leaseMs: number): Promise<void> {
    const { ledger, guard } = this.#options
    const holds = holdsOf(batch, lines)
    if (ledger === undefined) return
    for (let at = 0; at < holds.length; at += renewedAtOnce) {
      const some = holds.slice(at, at + renewedAtOnce)
      await guard.call(() => ledger.renew(some, leaseMs))
    }
  }

  /** Ends all holds of a batch without a charge. Holds that have ended stay as they are. */
  async release(batch: StoredBatch, lines: readonly BatchLine[]): Promise<void> {
    await this.#release(holdsOf(batch, lines))
  }

  async #release(holds: readonly OpenHold[]): Promise<void> {
    const { ledger, guard } = this.#options
    if (ledger === undefined) return
    const release = async ({ id, account }: OpenHold) => guard.call(() => ledger.release({ id, account }))
    await mapConcurrently(holds, atOnce, new AbortController().signal, release)
  }

  /**
   * Charges a request that has ended, or releases its hold. May be called again. Returns the receipt with its charge, and what the
   * request cost the host, if anything asks for it.
   */
  async settle(batch: StoredBatch, line: BatchLine, model: Model, receipt: Receipt): Promise<Settled> {
    const { admission, settle } = this.#options
    const { account, data } = batch
    const caller = callerOf(batch)
    const id = lineId(data, line.id)
    const counted = line.caps === undefined ? undefined : data.counted[line.caps]
    const caps = counted === undefined ? [] : admission.caps.of(caller, model.id)
    const states = counted && (countedStates(counted) as readonly CapState[])
    const bounds = boundsOf({ bytes: line.in ?? 0, outputTokens: line.out, choices: 1, writes: true, units: {} }, model)
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
    return { receipt: charged, costs: ticket.costs }
  }

  /** Waits until what was settled is recorded, or the usage store is too slow. */
  async recorded(): Promise<void> {
    await this.#options.admission.records?.idle(recordedMs)
  }
}

function holdsOf({ account, data }: StoredBatch, lines: readonly BatchLine[]): readonly OpenHold[] {
  const held = lines.filter((line) => line.held !== undefined)
  return held.map((line) => ({ id: lineId(data, line.id), account }))
}
