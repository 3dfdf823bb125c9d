import type { Caller } from '../callers/contract.ts'
import { ownedBy } from '../money/limits/bucket.ts'
import { limitHeaders, type Measured } from '../money/limits/headers.ts'
import { parseFrequency } from '../records/rate.ts'
import { refusalOf, tooManyRequests } from '../money/limits/refusal.ts'
import type { AdmissionServices } from './services.ts'
import { ofCaller, ownerOf } from './scopes.ts'

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
    const { limits, local = false } = await counters.admit(claim, undefined)
    if (limits === undefined) return {}
    if (!local) reached.learn(rates, limits)
    if (!limits.admitted) throw refusalOf(claim, rates, limits)
    return limitHeaders(rates, limits)
  }
}
