import type { Model } from '../models/contract.ts'
import { disconnectDefaults, type DisconnectPolicy } from '../money/disconnect.ts'
import { formatMoney } from '../money/money.ts'
import type { Consumption, Price } from '../money/prices/price.ts'
import type { Charge, ChargeBasis, PriceSource, Receipt } from '../money/receipt.ts'
import type { UsageLine } from '../observe/usage/contract.ts'

export interface Charged {
  /** In micro-units. */
  readonly cost: bigint
  readonly basis: ChargeBasis
  /** Absent if nothing is charged. */
  readonly by?: { readonly price: Price; readonly consumed: Consumption; readonly multiplier: bigint } | undefined
}

const nothing: Charged = { cost: 0n, basis: 'none' }

/** How requests are charged that did not complete. */
export interface EndPolicy {
  readonly onDisconnect: DisconnectPolicy
  /** See `BillingOptions.chargeFailed`. */
  readonly chargeFailed?: boolean | undefined
}

/** What a request costs, and what that is based on. Without a model the cost is 0. */
export function charge(
  receipt: Receipt,
  model: Model | undefined,
  { onDisconnect: policy, chargeFailed = false }: EndPolicy,
  multiplier: bigint,
): Charged {
  const { outcome, usage, delivered, units, serviceTier } = receipt
  const rule = policy.charge ?? disconnectDefaults.charge
  const unanswered = policy.unanswered ?? disconnectDefaults.unanswered
  const more = outcome === 'cancelled' && rule === 'delivered' ? delivered : undefined
  const failed = receipt.outcome === 'failed'
  const basis =
    more !== undefined
      ? 'delivered'
      : failed
        ? basisOfFailed(receipt, chargeFailed)
        : basisOf(receipt, rule, unanswered)
  if (basis === 'none') return nothing
  const price = model && priceOf(model, receipt)
  if (price === undefined) return { cost: 0n, basis }
  const consumed = { usage: more ?? usage, units, serviceTier }
  return { cost: price.cost(consumed, multiplier), basis, by: { price, consumed, multiplier } }
}

/** The charge as the receipt shows it. Its lines are computed only if they are read. */
export function chargeOf(charged: Charged, overage: bigint, currency: string): Charge {
  return new ShownCharge(charged, overage, currency)
}

/** A class, because each object literal with getters would get a hidden class of its own. */
class ShownCharge implements Charge {
  readonly cost: string
  readonly overage: string
  readonly currency: string
  readonly basis: ChargeBasis
  declare readonly prices?: PriceSource
  declare readonly unrated?: readonly string[]
  readonly #charged: Charged
  #details: Details | undefined

  constructor(charged: Charged, overage: bigint, currency: string) {
    this.cost = formatMoney(charged.cost)
    this.overage = formatMoney(overage)
    this.currency = currency
    this.basis = charged.basis
    this.#charged = charged
    const prices = charged.by?.price.source
    if (prices !== undefined) this.prices = prices
    const unrated = unratedOf(charged)
    if (unrated.length > 0) this.unrated = unrated
  }

  get lines(): Details['lines'] {
    return (this.#details ??= detailsOf(this.#charged)).lines
  }

  get rounding(): string {
    return (this.#details ??= detailsOf(this.#charged)).rounding
  }

  toJSON(): Charge {
    const { cost, overage, currency, basis, lines, rounding, prices, unrated } = this
    const rest = { ...(prices && { prices }), ...(unrated && { unrated }) }
    return { cost, overage, currency, basis, lines, rounding, ...rest }
  }
}

/** What was used without a rate of its own; see `Price.unrated`. */
function unratedOf({ by }: Charged): readonly string[] {
  return by === undefined || by.multiplier === 0n ? none : by.price.unrated(by.consumed)
}

const none: readonly never[] = []

/** The lines of a charge for its usage record. */
export function linesOf(charged: Charged): readonly UsageLine[] {
  return detailsOf(charged).lines.map(({ item, quantity, per, price }) => ({ item, quantity, per, price }))
}

type Details = Pick<Charge, 'lines' | 'rounding'>

function detailsOf({ cost, by }: Charged): Details {
  return by === undefined ? agreed(cost) : by.price.lines(by.consumed, by.multiplier)
}

/** An amount that was agreed before, at a price that is no longer known. */
function agreed(cost: bigint): Details {
  const amount = formatMoney(cost)
  return { lines: cost === 0n ? [] : [{ item: 'held', quantity: 1, per: 1, price: amount, amount }], rounding: '0' }
}

function basisOf(
  receipt: Receipt,
  rule: DisconnectPolicy['charge'],
  unanswered: DisconnectPolicy['unanswered'],
): ChargeBasis {
  const { outcome, usageSource, usage, units } = receipt
  if (outcome === 'completed') return usageSource
  if (rule === 'none') return 'none'
  if (usageSource === 'reported') return 'reported'
  if (rule === 'reported') return 'none'
  if (receipt.unanswered === true) return unanswered === 'none' ? 'none' : 'sent'
  return usage.total_tokens > 0 || units !== undefined ? 'delivered' : 'none'
}

/** What the vendor has reported is charged, because the host pays for it. */
function basisOfFailed({ usageSource, usage, billed }: Receipt, chargeFailed: boolean): ChargeBasis {
  if (usageSource === 'reported') return 'reported'
  return (billed === true || chargeFailed) && usage.total_tokens > 0 ? 'estimated' : 'none'
}

/** The model's price, otherwise that of the deployment of the last attempt. */
function priceOf({ price, deployments }: Model, { provider, providerModel }: Receipt): Price | undefined {
  if (price !== undefined) return price
  const answered = deployments.find((each) => each.provider.name === provider && each.model === providerModel)
  return answered?.price
}
