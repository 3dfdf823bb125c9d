/** What vendors say in a usage of their own costs: what the host pays is not for its customers. */
import { fieldsOf, isRecord, numberOf, type Fields } from './json.ts'

/**
 * Names of OpenRouter (`cost`, `cost_details`, `is_byok`), Perplexity (`cost`), xAI (`cost_in_usd_ticks`), DeepInfra
 * (`estimated_cost`), and Vercel (`gateway_cost`, `market_cost`). No vendor counts tokens or units by such a name.
 */
const ofCosts = /cost|byok|price|credits/

/** The usage without them; the same object if it has none. */
export function withoutCosts<T extends object>(usage: T): T {
  for (const name in usage) {
    if (ofCosts.test(name))
      return Object.fromEntries(Object.entries(usage).filter(([each]) => !ofCosts.test(each))) as T
  }
  return usage
}

/** In the numbers of xAI. */
const ticksPerDollar = 1e10

/** What the vendor says that the call costs, in US dollars; undefined if it says nothing. */
export function dollarsIn(usage: Fields): number | undefined {
  const { cost, cost_in_usd_ticks: ticks, estimated_cost: estimated, is_byok: own, cost_details: details } = usage
  if (typeof ticks === 'number') return ticks / ticksPerDollar
  if (isRecord(cost)) return numberOf(cost['total_cost'])
  if (typeof cost !== 'number') return numberOf(estimated)
  if (own !== true) return cost
  // With a key of the host's own, OpenRouter charges its fee, and the vendor behind it the rest.
  const behind = numberOf(fieldsOf(details)['upstream_inference_cost'])
  return behind === undefined ? undefined : cost + behind
}
