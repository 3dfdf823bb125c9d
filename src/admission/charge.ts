import type { Model } from '../models/contract.ts'
import { disconnectDefaults, type DisconnectPolicy } from '../billing/disconnect.ts'
import type { Price } from '../billing/price.ts'
import type { ChargeBasis, Receipt } from '../billing/receipt.ts'

export interface Charged {
  /** In micro-units. */
  readonly cost: bigint
  readonly basis: ChargeBasis
}

const nothing: Charged = { cost: 0n, basis: 'none' }

/** What a request costs, and what that is based on. Without a model the cost is 0. A failed request costs nothing. */
export function charge(
  receipt: Receipt,
  model: Model | undefined,
  policy: DisconnectPolicy,
  multiplier: bigint,
): Charged {
  const { outcome, usage, delivered, units } = receipt
  const rule = policy.charge ?? disconnectDefaults.charge
  const unanswered = policy.unanswered ?? disconnectDefaults.unanswered
  const more = outcome === 'cancelled' && rule === 'delivered' ? delivered : undefined
  const basis = more === undefined ? basisOf(receipt, rule, unanswered) : 'delivered'
  if (basis === 'none') return nothing
  const price = model && priceOf(model, receipt)
  return { cost: price === undefined ? 0n : price.cost(more ?? usage, units, multiplier), basis }
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
