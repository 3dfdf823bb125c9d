import type { Caller } from '../callers/contract.ts'
import { charge, chargeOf, linesOf, type Charged } from './charge.ts'
import type { HoldVerdict, Settlement } from '../money/ledger/contract.ts'
import type { Charge, Receipt } from '../money/receipt.ts'
import type { LimitReturn, LimitVerdict, PlaceRule, RateRule } from '../money/limits/contract.ts'
import type { Model } from '../models/contract.ts'
import type { Work } from '../providers/work.ts'
import type { AdmissionEnd } from './contract.ts'
import type { CallCosts } from '../observe/contract.ts'
import { usageOf } from '../wire/usage.ts'
import { usageRecordOf } from '../observe/usage/record.ts'
import type { Recording } from '../observe/usage/users.ts'
import type { AdmissionServices } from './services.ts'
import type { Demand } from './demand.ts'
import type { Lease } from './leases.ts'
import { plausible } from './plausible-usage.ts'
import { hasRoom } from './room.ts'
import type { LostUsage } from './meter.ts'
import { callCosts, vendorCostOf } from './vendor-cost.ts'

/** Maximum time in milliseconds that a place is kept for a vendor still working after its client has disconnected. */
const longestWorkMs = 600_000

const none: readonly never[] = []

/** The end of a hold, and the usage record. */
export interface DurableEnd {
  readonly end?: AdmissionEnd['end']
  readonly record?: Recording
}

/** Keeps what a request costs, for work that outlives its process. */
export interface DurableKeeper {
  keep(end: DurableEnd): void
}

/** The request that a ticket is for: its `Entry`. */
interface TicketHolder {
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
  /** The verdicts on the claim and on the hold; undefined if there is none. */
  limits: LimitVerdict | undefined
  held: HoldVerdict | undefined
  /** Gets the end of the hold and the usage record, in place of the queues. */
  keeper: DurableKeeper | undefined
  /** Once it is closed: what the request cost the host, if anything asks for it. */
  costs: CallCosts | undefined
  /** Once it is closed: what the answer waits for before it ends. */
  stored: Promise<void> | undefined
  readonly #admission: AdmissionServices
  readonly #request: TicketHolder
  readonly #model: Model
  #lease: Lease | undefined

  constructor(admission: AdmissionServices, request: TicketHolder, model: Model, demand: Demand) {
    this.#admission = admission
    this.#request = request
    this.#model = model
    this.demand = demand
  }

  /** Starts renewing the leases of an admitted request. */
  begin(): void {
    const { claim, hold } = this.demand
    const places = claim === undefined || this.local ? [] : claim.places.map(bucketOf)
    if (hold === undefined && places.length === 0) return
    const { id, caller } = this.#request
    this.#lease = { id, account: caller.account, places, held: hold !== undefined }
    this.#admission.leases.add(this.#lease)
  }

  /** Gives everything back after a failed call, which may have drawn it nevertheless. */
  abandon(): void {
    this.#vacate()
    const { hold } = this.demand
    void this.#end(this.#returned(undefined), hold && { id: hold.id, account: hold.account })
  }

  /** Returns places to the limit store, which may have taken them before it failed. */
  abandonPlaces(): void {
    const returned = this.#returned(undefined)
    if (returned !== undefined) void this.#admission.settlements.add(returned, undefined)
  }

  /** Ends a request that holds no money here: frees its places. */
  giveBack(): void {
    this.#vacate()
    void this.#end(this.#returned(undefined), undefined)
  }

  /**
   * Ends the request and returns the receipt with its charge; the stores are updated in the background. If the client
   * disconnected, the places stay taken until the vendor has ended too. `lost` and
   * `vendorDollars`: see `Metered.deliver`.
   */
  close(reported: Receipt, work: Pick<Work, 'ended'>, lost?: readonly LostUsage[], vendorDollars?: number): Receipt {
    const { options, records } = this.#admission
    const { caller } = this.#request
    const { hold, requestedUnits } = this.demand
    // The vendor may have produced the images although the client disconnected before the response, or could not get it.
    const unseen =
      (reported.unanswered === true || (reported.billed === true && reported.usageSource === 'estimated')) &&
      requestedUnits !== undefined
    const receipt = this.#plausible(this.#limited(unseen ? { ...reported, units: requestedUnits } : reported))
    const isCalled = receipt.cached === undefined
    if (isCalled && this.demand.hidden !== undefined) this.#admission.speeds.learn(receipt)
    if (isCalled && hold !== undefined) this.#admission.usualTokens.learn(receipt)
    const charged = this.#charge(receipt)
    const { cost, basis } = charged
    const held = hold?.amount ?? 0n
    const overage = cost > held ? cost - held : 0n
    const used = receipt.delivered ?? receipt.usage
    const ending = this.#ending(charged, used.total_tokens)
    const end = this.keeper === undefined ? ending : undefined
    if (cost > 0n) this.#admission.charged(caller.account)
    const returned = this.#returned(used.total_tokens)
    if (receipt.outcome === 'completed') {
      this.#vacate()
      this.stored = this.#end(returned, end)
    } else {
      this.stored = this.#end(returned && { ...returned, places: none }, end)
      void work.ended(longestWorkMs).then(() => {
        this.#vacate()
        void this.#end(returned && { ...returned, corrections: none }, undefined)
      })
    }
    const lines = options.usageOptions.lines === true && cost > 0n ? linesOf(charged) : undefined
    const { watchesCosts } = options.observer
    const vendorCost = records !== undefined || watchesCosts ? vendorCostOf(receipt, this.#model, lost) : undefined
    if (watchesCosts && vendorCost !== undefined) this.costs = callCosts(cost, vendorCost, options.currency)
    if (vendorDollars !== undefined) this.#admission.drift.add(receipt, this.#model, vendorDollars)
    let recording: Recording | undefined
    if (records !== undefined) {
      const record = usageRecordOf(receipt, { cost, overage, basis, vendorCost, lines })
      recording = { record, userIsClaimed: caller.user === undefined }
      if (this.keeper === undefined) records.add(recording, true)
    }
    this.keeper?.keep({ ...(ending && { end: ending }), ...(recording && { record: recording }) })
    const { currency } = options.billing
    if (options.ledger === undefined || currency === undefined) return receipt
    const shown = chargeOf(charged, overage, currency)
    if (shown.unrated !== undefined) this.#admission.unrated.report(receipt, shown.unrated)
    // The receipt was made for this call, and nobody else has it yet.
    ;(receipt as { charge?: Charge }).charge = shown
    return receipt
  }

  #ending({ cost, basis }: Charged, tokens: number): AdmissionEnd['end'] {
    const { id, caller } = this.#request
    const { account } = caller
    const { hold } = this.demand
    // A call that is not charged counts for caps nevertheless, unless it failed.
    const settles = cost > 0n || (hold?.caps !== undefined && basis !== 'none')
    if (!settles) return hold && { id, account }
    return Object.assign({ id, account, amount: cost }, this.#counted(tokens))
  }

  #vacate(): void {
    if (this.#lease !== undefined) this.#admission.leases.delete(this.#lease)
    this.#request.leave()
  }

  #plausible(receipt: Receipt): Receipt {
    const { bounds } = this.demand
    const cut = plausible(receipt, bounds)
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

  /** An answer that was too large to be read may have far more bytes than its tokens explain. */
  #limited(receipt: Receipt): Receipt {
    const { billed, usageSource, usage } = receipt
    if (billed !== true || usageSource === 'reported') return receipt
    const { prompt_tokens: prompt, completion_tokens: completion } = usage
    return { ...receipt, usage: usageOf(prompt, Math.min(completion, this.demand.bounds.length)) }
  }

  #charge(receipt: Receipt): Charged {
    const charged = this.#chargeAtPrice(receipt)
    const { hold } = this.demand
    const isGuess = receipt.billed === true && receipt.usageSource === 'estimated'
    return isGuess && hold !== undefined && charged.cost > hold.amount
      ? { cost: hold.amount, basis: charged.basis }
      : charged
  }

  #chargeAtPrice(receipt: Receipt): Charged {
    const admission = this.#admission
    const model = admission.options.ledger === undefined ? undefined : this.#model
    const onDisconnect = admission.disconnectPolicy(this.#model)
    const { chargeFailed } = admission.options.billing
    const { multiplier } = this.demand
    const share = receipt.cached === undefined ? multiplier : sharedBy(multiplier, receipt.cached)
    return charge(receipt, model, { onDisconnect, chargeFailed }, share)
  }

  #counted(tokens: number): Pick<Settlement, 'caps' | 'tokens' | 'balanceThresholds'> {
    const { id, caller } = this.#request
    return this.#admission.caps.counted(id, this.demand.caps, this.held?.caps, caller, tokens)
  }

  /** Places to free, and corrections for tokens drawn by estimate. Undefined if there are none. */
  #returned(tokens: number | undefined): LimitReturn | undefined {
    const { claim, rates } = this.demand
    if (claim === undefined) return undefined
    const corrections: RateRule[] = []
    if (tokens !== undefined) {
      for (const { measure, rule } of rates) {
        if (measure === 'tokens' && tokens !== rule.cost) corrections.push({ ...rule, cost: tokens - rule.cost })
      }
    }
    if (claim.places.length + corrections.length === 0) return undefined
    return { id: claim.id, places: claim.places.map(bucketOf), corrections }
  }

  #end(returned: LimitReturn | undefined, end: AdmissionEnd['end']): Promise<void> | undefined {
    const some = returned !== undefined && returned.places.length + returned.corrections.length > 0
    if (some && this.local) void this.#admission.local?.give(returned)
    const { claim, hold } = this.demand
    return this.#admission.settlements.add(some && !this.local ? returned : undefined, end, () =>
      hasRoom(claim, this.limits, hold, this.held),
    )
  }
}

function bucketOf({ bucket }: PlaceRule): string {
  return bucket
}

function sharedBy(multiplier: bigint, share: number): bigint {
  return (multiplier * BigInt(Math.round(share * 1e6))) / 1_000_000n
}
