import type { Caller } from '../auth/contract.ts'
import { charge, type Charged } from './charge.ts'
import { formatMoney } from '../billing/money.ts'
import type { Receipt } from '../billing/receipt.ts'
import type { LimitReturn } from '../limits/contract.ts'
import type { Model } from '../models/contract.ts'
import type { Work } from '../routing/work.ts'
import type { CallEnd } from './contract.ts'
import { recordOf } from '../usage/record.ts'
import type { AdmissionParts } from './parts.ts'
import type { Demand } from './demand.ts'
import type { Lease } from './leases.ts'
import { plausible } from './plausible.ts'

/** Maximum time in milliseconds that a place is kept for a vendor still working after its client has disconnected. */
const longestWorkMs = 600_000

/** The request that a ticket is for. */
export interface TicketHolder {
  readonly id: string
  readonly caller: Caller
  leave(): void
}

/** What an admitted request has drawn and holds, until its end. */
export class Ticket {
  readonly demand: Demand
  /** Rate limit headers for the response. */
  headers: Readonly<Record<string, string>> | undefined
  /** Whether the limits were counted in this process only. */
  local = false
  readonly #admission: AdmissionParts
  readonly #request: TicketHolder
  readonly #model: Model
  #lease: Lease | undefined

  constructor(admission: AdmissionParts, request: TicketHolder, model: Model, demand: Demand) {
    this.#admission = admission
    this.#request = request
    this.#model = model
    this.demand = demand
  }

  /** Starts renewing the leases of an admitted request. */
  begin(): void {
    const { claim, hold } = this.demand
    const places = claim === undefined || this.local ? [] : claim.places.map((rule) => rule.bucket)
    if (hold === undefined && places.length === 0) return
    const { id, caller } = this.#request
    this.#lease = { id, account: caller.account, places, held: hold !== undefined }
    this.#admission.leases.add(this.#lease)
  }

  /** Gives everything back after a failed call, which may have drawn it nevertheless. */
  abandon(): void {
    const { hold } = this.demand
    this.#end({ ...this.#returned(undefined), ...(hold && { end: { id: hold.id, account: hold.account } }) })
  }

  /** Returns places to the limit store, which may have taken them before it failed. */
  abandonPlaces(): void {
    this.#admission.endings.add(this.#returned(undefined))
  }

  /** Ends a request that holds no money here: frees its places. */
  giveBack(): void {
    this.#vacate()
    this.#end(this.#returned(undefined))
  }

  /**
   * Ends the request and returns the receipt with its charge; the stores are updated in the background. If the client
   * disconnected, the places stay taken until the vendor has ended too.
   */
  close(reported: Receipt, work: Pick<Work, 'ended'>): Receipt {
    const { options, records } = this.#admission
    const { id, caller } = this.#request
    const { hold, asked } = this.demand
    // The vendor may have produced the images although the client disconnected before the response.
    const unanswered = reported.unanswered === true && asked !== undefined
    const receipt = this.#plausible(unanswered ? { ...reported, units: asked } : reported)
    const { cost, basis } = this.#charge(receipt)
    const held = hold?.amount ?? 0n
    const overage = cost > held ? cost - held : 0n
    const { account } = caller
    const end = cost > 0n ? { id, account, amount: cost } : hold && { id, account }
    const { returned } = this.#returned((receipt.delivered ?? receipt.usage).total_tokens)
    if (receipt.outcome === 'completed') {
      this.#vacate()
      this.#end({ ...(returned && { returned }), ...(end && { end }) })
    } else {
      this.#end({ ...(returned && { returned: { ...returned, places: [] } }), ...(end && { end }) })
      void work.ended(longestWorkMs).then(() => {
        this.#vacate()
        this.#end({ ...(returned && { returned: { ...returned, corrections: [] } }) })
      })
    }
    records?.add(recordOf(receipt, { cost, overage, basis }))
    const { currency } = options.billing
    if (options.ledger === undefined || currency === undefined) return receipt
    return { ...receipt, charge: { cost: formatMoney(cost), overage: formatMoney(overage), currency, basis } }
  }

  #vacate(): void {
    if (this.#lease !== undefined) this.#admission.leases.delete(this.#lease)
    this.#request.leave()
  }

  #plausible(receipt: Receipt): Receipt {
    const { bounds } = this.demand
    const cut = plausible(receipt, bounds, bounds.choices)
    if (cut.implausible !== undefined) {
      const { prompt_tokens: prompt, completion_tokens: completion } = receipt.usage
      const counted = `${prompt} prompt tokens, ${completion} completion tokens, ${receipt.units?.seconds ?? 0} seconds`
      const by = `${receipt.provider ?? 'the vendor'} (${receipt.providerModel ?? receipt.model})`
      this.#admission.options.observer.failure({
        id: receipt.id,
        error: new Error(`${by} reported more usage than is possible: ${counted}`),
      })
    }
    return cut
  }

  #charge(receipt: Receipt): Charged {
    const admission = this.#admission
    const model = admission.options.ledger === undefined ? undefined : this.#model
    return charge(
      receipt,
      model,
      admission.disconnectPolicy(this.#model),
      admission.multiplierOf(this.#request.caller.group),
    )
  }

  /** Places to free, and corrections for tokens drawn by estimate. */
  #returned(tokens: number | undefined): { returned?: LimitReturn } {
    const { claim, rates } = this.demand
    if (claim === undefined) return {}
    const corrections = rates.flatMap(({ measure, rule }) => {
      const cost = (tokens ?? rule.cost) - rule.cost
      return measure === 'tokens' && cost !== 0 ? [{ ...rule, cost }] : []
    })
    const places = claim.places.map((rule) => rule.bucket)
    return places.length + corrections.length === 0 ? {} : { returned: { id: claim.id, places, corrections } }
  }

  #end(ending: CallEnd): void {
    const { returned, end } = ending
    const some = returned !== undefined && returned.places.length + returned.corrections.length > 0
    if (!some && end === undefined) return
    if (!this.local) return this.#admission.endings.add({ ...(some && { returned }), ...(end && { end }) })
    if (returned !== undefined) void this.#admission.local?.give(returned)
    if (end !== undefined) this.#admission.endings.add({ end })
  }
}
