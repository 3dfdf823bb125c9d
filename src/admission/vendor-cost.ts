/** What a request costs the host at its vendors. */
import type { Receipt } from '../money/receipt.ts'
import { costOf, formatCost, formatMargin } from '../money/prices/cost.ts'
import type { Model } from '../models/contract.ts'
import type { CallCosts } from '../observe/contract.ts'
import type { LostUsage } from './meter.ts'

/**
 * In billionths of the currency: of the last attempt, whether or not it is charged, and of those before it, as far as their usage
 * is known. Undefined if what one of the deployments costs is not known.
 */
export function vendorCostOf(receipt: Receipt, model: Model, lost: readonly LostUsage[] = none): bigint | undefined {
  const { attempts, provider = '', providerModel = '', outcome, delivered, usage, units, serviceTier } = receipt
  if (attempts === 0) return 0n
  let sum = 0n
  const last = { deployment: { provider: { name: provider }, model: providerModel }, usage: delivered ?? usage }
  // Of a response that went on elsewhere, `usage` is what the client pays.
  const isCounted = receipt.continued !== undefined
  const whole = { ...last, ...(units && { units }), ...(serviceTier !== undefined && { serviceTier }) }
  const used = isCounted ? lost : [...lost, whole]
  for (const [index, each] of used.entries()) {
    // Vendors do not bill a request that they did not answer, not even its fee.
    const isUnused = each.usage.total_tokens === 0 && each.units === undefined
    if (isUnused && (index < lost.length || outcome !== 'completed')) continue
    const cost = costAt(model, each)
    if (cost === undefined) return undefined
    sum += cost
  }
  return sum
}

const none: readonly never[] = []

/** What an attempt costs the host; undefined if what its deployment costs is not known. */
export function costAt(
  { deployments }: Pick<Model, 'deployments'>,
  { deployment, ...consumed }: LostUsage,
): bigint | undefined {
  const { provider, model } = deployment
  const found = deployments.find((each) => each.provider.name === provider.name && each.model === model)
  return found?.cost && costOf(found.cost, consumed)
}

/** What telemetry is told. `charged` in millionths, `cost` in billionths. */
export function callCosts(charged: bigint, cost: bigint, currency: string | undefined): CallCosts {
  const amounts = { vendorCost: formatCost(cost), margin: formatMargin(charged, cost) }
  return currency === undefined ? amounts : { ...amounts, currency }
}
