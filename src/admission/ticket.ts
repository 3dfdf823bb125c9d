/** What an admitted call holds, and what becomes of it at the call's one end. */
import { charge, type Charged } from '../billing/charge.ts'
import { formatMoney } from '../billing/money.ts'
import type { Receipt } from '../billing/receipt.ts'
import type { Return } from '../limits/contract.ts'
import type { Model } from '../models/contract.ts'
import type { Ending } from '../storage/contract.ts'
import { recordOf } from '../usage/record.ts'
import type { Admission } from './admission.ts'
import type { Demand } from './demand.ts'
import type { Entry } from './entry.ts'
import type { Lease } from './leases.ts'

export class Ticket {
  readonly demand: Demand
  /** For the answer. */
  headers: Readonly<Record<string, string>> | undefined
  /** Its limits were taken from this process alone. */
  local = false
  readonly #desk: Admission
  readonly #entry: Entry
  readonly #model: Model
  #lease: Lease | undefined

  constructor(desk: Admission, entry: Entry, model: Model, demand: Demand) {
    this.#desk = desk
    this.#entry = entry
    this.#model = model
    this.demand = demand
  }

  /** Everything was granted: from now on it is kept alive. */
  begin(): void {
    const { claim, hold } = this.demand
    const places = claim === undefined || this.local ? [] : claim.places.map((rule) => rule.bucket)
    if (hold === undefined && places.length === 0) return
    const { id, caller } = this.#entry
    this.#lease = { id, account: caller.account, places, held: hold !== undefined }
    this.#desk.leases.add(this.#lease)
  }

  /** Nothing was granted for sure, and nobody knows what the stores have taken. */
  abandon(): void {
    const { hold } = this.demand
    this.#end({ ...this.#returned(undefined), ...(hold && { end: { id: hold.id, account: hold.account } }) })
  }

  /** The end of a request whose cost is held elsewhere: its places are free again. */
  giveBack(): void {
    if (this.#lease !== undefined) this.#desk.leases.delete(this.#lease)
    this.#end(this.#returned(undefined))
    this.#entry.leave()
  }

  /** The one end of the call. Gives the receipt with what it cost; the stores are told after the answer. */
  close(receipt: Receipt): Receipt {
    const { options, leases, records } = this.#desk
    const { id, caller } = this.#entry
    const { hold } = this.demand
    if (this.#lease !== undefined) leases.delete(this.#lease)
    const { cost, basis } = this.#charge(receipt)
    const held = hold?.amount ?? 0n
    const overage = cost > held ? cost - held : 0n
    const { account } = caller
    const end = cost > 0n ? { id, account, amount: cost } : hold && { id, account }
    this.#end({ ...this.#returned((receipt.delivered ?? receipt.usage).total_tokens), ...(end && { end }) })
    this.#entry.leave()
    records?.add(recordOf(receipt, { cost, overage, basis }))
    if (options.ledger === undefined) return receipt
    const currency = options.billing.currency ?? 'CNY'
    return { ...receipt, charge: { cost: formatMoney(cost), overage: formatMoney(overage), currency, basis } }
  }

  #charge(receipt: Receipt): Charged {
    const desk = this.#desk
    const model = desk.options.ledger === undefined ? undefined : this.#model
    return charge(receipt, model, desk.cancelPolicy(this.#model), desk.ratioOf(this.#entry.caller.group))
  }

  /** Places, and the tokens that were drawn too many or too few. */
  #returned(tokens: number | undefined): { returned?: Return } {
    const { claim, rates } = this.demand
    if (claim === undefined) return {}
    const corrections = rates.flatMap(({ measure, rule }) => {
      const cost = (tokens ?? rule.cost) - rule.cost
      return measure === 'tokens' && cost !== 0 ? [{ ...rule, cost }] : []
    })
    const places = claim.places.map((rule) => rule.bucket)
    return places.length + corrections.length === 0 ? {} : { returned: { id: claim.id, places, corrections } }
  }

  #end(ending: Ending): void {
    const { returned, end } = ending
    if (this.local && returned !== undefined) return void this.#desk.local?.give(returned)
    if (returned !== undefined || end !== undefined) this.#desk.endings.add(ending)
  }
}
