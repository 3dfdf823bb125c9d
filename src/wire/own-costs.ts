/** What vendors say in a usage of their own costs: what the host pays is not for its customers. */

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
