import type { Model } from '../models/contract.ts'
import { disconnectDefaults, type DisconnectPolicy } from '../billing/disconnect.ts'
import { formatMoney } from '../billing/money.ts'
import type { Consumption, Price } from '../billing/price.ts'
import type { Charge, ChargeBasis, Receipt } from '../billing/receipt.ts'
import type { UsageLine } from '../usage/contract.ts'

export interface Charged {
  /** In micro-units. */
  readonly cost: bigint
  readonly basis: ChargeBasis
  /** Absent if nothing is charged. */
  readonly by?: { readonly price: Price; readonly consumed: Consumption; readonly multiplier: bigint } | undefined
}

const nothing: Charged = { cost: 0n, basis: 'none' }

/** What a request costs, and what that is based on. Without a model the cost is 0. A failed request costs nothing. */
export function charge(
  receipt: Receipt,
  model: Model | undefined,
  policy: DisconnectPolicy,
  multiplier: bigint,
): Charged {
  const { outcome, usage, delivered, units, serviceTier } = receipt
  const rule = policy.charge ?? disconnectDefaults.charge
  const unanswered = policy.unanswered ?? disconnectDefaults.unanswered
  const more = outcome === 'cancelled' && rule === 'delivered' ? delivered : undefined
  const basis = more === undefined ? basisOf(receipt, rule, unanswered) : 'delivered'
  if (basis === 'none') return nothing
  const price = model && priceOf(model, receipt)
  if (price === undefined) return { cost: 0n, basis }
  const consumed = { usage: more ?? usage, units, serviceTier }
  return { cost: price.cost(consumed, multiplier), basis, by: { price, consumed, multiplier } }
}

/** The charge as the receipt shows it. Its lines are computed only if they are read. */
export function chargeOf({ cost, basis, by }: Charged, overage: bigint, currency: string): Charge {
  let details: Pick<Charge, 'lines' | 'rounding'> | undefined
  const read = () => (details ??= by === undefined ? agreed(cost) : by.price.lines(by.consumed, by.multiplier))
  const charge: Charge = {
    cost: formatMoney(cost),
    overage: formatMoney(overage),
    currency,
    basis,
    get lines() {
      return read().lines
    },
    get rounding() {
      return read().rounding
    },
  }
  const prices = by?.price.source
  return prices === undefined ? charge : Object.assign(charge, { prices })
}

/** The lines of a charge for its usage record. */
export function linesOf({ cost, by }: Charged): readonly UsageLine[] {
  const { lines } = by === undefined ? agreed(cost) : by.price.lines(by.consumed, by.multiplier)
  return lines.map(({ item, quantity, per, price }) => ({ item, quantity, per, price }))
}

/** An amount that was agreed before, at a price that is no longer known. */
function agreed(cost: bigint): Pick<Charge, 'lines' | 'rounding'> {
  const amount = formatMoney(cost)
  return { lines: cost === 0n ? [] : [{ item: 'held', quantity: 1, per: 1, price: amount, amount }], rounding: '0' }
}

function basisOf(
  receipt: Receipt,
  rule: DisconnectPolicy['charge'],
  unanswered: DisconnectPolicy['unanswered'],
): ChargeBasis {
  const { outcome, usageSource, usage, units } = receipt
  if (outcome === 'failed') return 'none'
  if (outcome === 'completed') return usageSource
  if (rule === 'none') return 'none'
  if (usageSource === 'reported') return 'reported'
  if (rule === 'reported') return 'none'
  if (receipt.unanswered === true) return unanswered === 'none' ? 'none' : 'sent'
  return usage.total_tokens > 0 || units !== undefined ? 'delivered' : 'none'
}

/** The model's price, otherwise that of the deployment of the last attempt. */
function priceOf({ price, deployments }: Model, { provider, providerModel }: Receipt): Price | undefined {
  if (price !== undefined) return price
  const answered = deployments.find((each) => each.provider.name === provider && each.model === providerModel)
  return answered?.price
}
