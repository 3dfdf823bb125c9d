/** What a request costs the host at its vendors. */
import type { Receipt } from '../money/receipt.ts'
import { costOf, formatCost, formatMargin } from '../money/prices/cost.ts'
import type { Consumption } from '../money/prices/price.ts'
import type { Model } from '../models/contract.ts'
import type { CallCosts } from '../observe/contract.ts'
import type { LostUsage } from './meter.ts'

/**
 * In billionths of the currency: of the last attempt, whether or not it is charged, and of those before it, as far as their usage
 * is known. Undefined if what one of the deployments costs is not known.
 */
export function vendorCostOf(receipt: Receipt, model: Model, lost: readonly LostUsage[] = none): bigint | undefined {
  const { attempts, continued, provider = '', providerModel = '', outcome, delivered } = receipt
  if (attempts === 0) return 0n
  let sum = 0n
  for (const each of lost) {
    const { provider: vendor, model: named } = each.deployment
    const cost = isUnused(each) ? 0n : costAt(model, vendor.name, named, each)
    if (cost === undefined) return undefined
    sum += cost
  }
  // Of a response that went on elsewhere, `usage` is what the client pays.
  if (continued !== undefined) return sum
  const used = delivered === undefined ? receipt : { ...receipt, usage: delivered }
  if (isUnused(used) && outcome !== 'completed') return sum
  const last = costAt(model, provider, providerModel, used)
  return last === undefined ? undefined : sum + last
}

const none: readonly never[] = []

/** Vendors do not bill a request that they did not answer, not even its fee. */
function isUnused({ usage, units }: Pick<Receipt, 'usage' | 'units'>): boolean {
  return usage.total_tokens === 0 && units === undefined
}

/** What an attempt costs the host; undefined if what its deployment costs is not known. */
export function costAt(
  { deployments }: Pick<Model, 'deployments'>,
  vendor: string,
  model: string,
  consumed: Consumption,
): bigint | undefined {
  const found = deployments.find((each) => each.provider.name === vendor && each.model === model)
  return found?.cost && costOf(found.cost, consumed)
}

/** What telemetry is told. `charged` in millionths, `cost` in billionths. */
export function callCosts(charged: bigint, cost: bigint, currency: string | undefined): CallCosts {
  const amounts = { vendorCost: formatCost(cost), margin: formatMargin(charged, cost) }
  return currency === undefined ? amounts : { ...amounts, currency }
}
