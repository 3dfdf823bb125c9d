import type { Caller } from '../callers/contract.ts'
import { disconnectDefaults } from '../money/disconnect.ts'
import { callerScopes, type Scope, ofCaller, ownerOf } from './scopes.ts'
import type { Model } from '../models/contract.ts'
import type { Group } from '../models/group-fields.ts'
import type { Demand } from './demand.ts'
import { Entry } from './entry.ts'
import { AdmissionServices } from './services.ts'
import { ownedBy } from '../money/limits/bucket.ts'
import { limitHeaders, type Measured } from '../money/limits/headers.ts'
import { parseFrequency } from '../records/rate.ts'
import { refusalOf, tooManyRequests } from '../money/limits/refusal.ts'

/**
 * Enforces limits, holds and charges money, and records usage. One call to the stores before the vendor is called; the
 * stores are updated in the background after the response.
 */
export class Admission extends AdmissionServices {
  /** With the group that they were made for, which may change. */
  readonly #scopes = new WeakMap<Caller, { readonly group: Group | undefined; readonly scopes: readonly Scope[] }>()
  readonly #counts = new CountLimit(this)

  /**
   * Checks the limits known in this process: throws a 429 before the body is read. Undefined if the request has no
   * limits, no price and no usage record.
   */
  enter(id: string, caller: Caller): Entry | undefined {
    const { groups } = this.options
    const group = groups[caller.group]
    let known = this.#scopes.get(caller)
    if (known === undefined || known.group !== group) {
      this.#scopes.set(caller, (known = { group, scopes: callerScopes(caller, groups) }))
    }
    const { scopes } = known
    return scopes.length === 0 && !this.needsEntry ? undefined : new Entry(this, id, caller, scopes)
  }

  /** Counts a request to count tokens, which has a rate of its own. Rejects with 429 or 503. */
  enterCount(id: string, caller: Caller): Promise<Readonly<Record<string, string>>> {
    return this.#counts.take(id, caller)
  }

  /**
   * Milliseconds for which a response is read after its client has disconnected; 0 if it is aborted. `demand`: undefined if
   * nothing is charged or limited.
   */
  drainMs(model: Model, demand: Demand | undefined): number {
    const {
      vendor = disconnectDefaults.vendor,
      drainMs = disconnectDefaults.drainMs,
      charge,
    } = this.disconnectPolicy(model)
    const unknown = demand?.hold !== undefined && charge !== 'none' && (demand.hidden !== undefined || demand.hasFiles)
    return vendor === 'drain' || (vendor === 'auto' && unknown) ? drainMs : 0
  }

  /** Sends what is queued to the stores: to the ledger within `settleMs`, to the usage store within `ms`. */
  async close(settleMs: number, ms: number): Promise<void> {
    this.leases.close()
    // Extends the holds first, so that they do not expire even if there is no time to settle them.
    this.leases.keep(this.settlements.unsettled)
    await Promise.all([
      this.settlements.drain(settleMs, ms),
      this.records?.drain(ms),
      this.retention?.close(),
      this.expiry?.close(),
      this.exporter?.close(),
      this.counters.close(),
    ])
  }
}

/** The rate of requests that only count tokens. */
export class CountLimit {
  readonly #admission: AdmissionServices

  constructor(admission: AdmissionServices) {
    this.#admission = admission
  }

  /** Draws one request. Resolves with the headers that describe the rate; rejects with a 429 or 503. */
  async take(id: string, caller: Caller): Promise<Readonly<Record<string, string>>> {
    const { counters, reached, options } = this.#admission
    const refill = parseFrequency(options.limitOptions.tokenCounts ?? '600/min')
    const bucket = `${ownedBy(caller.account, `counts ${ownerOf(caller)}`)} requests`
    const rule = { bucket, ...refill, cost: 1 }
    const rate: Measured = { measure: 'requests', rule, owner: `${ofCaller(caller)} for counts of tokens` }
    const rates = [rate]
    const waitMs = reached.waitMs(bucket)
    if (waitMs > 0) throw tooManyRequests(rate, waitMs)
    const claim = { id, rates: [rule], places: [], leaseMs: 1 }
    const askedAt = reached.asks()
    const { limits, local = false } = await counters.admit(claim, undefined)
    if (limits === undefined) return {}
    if (!local) reached.learn(rates, limits, askedAt)
    if (!limits.admitted) throw refusalOf(claim, rates, limits)
    return limitHeaders(rates, limits)
  }
}
