/** How hard the model thinks. */
import type { Effort } from '../reading/settings.ts'
import type { ClaudeTraits } from './models.ts'

/** Parts of a request: `effort` belongs into `output_config`. */
export interface ThinkingOrder {
  readonly thinking?: Readonly<Record<string, unknown>>
  readonly effort?: string
}

/** Tokens of a budget, as a part of the limit. */
const parts = { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.9, max: 0.95 }
const leastBudget = 1_024

/** `reasoning_effort` in the words of the model; undefined where it cannot think at all. */
export function thinkingFor(effort: Effort, traits: ClaudeTraits, maxTokens: number): ThinkingOrder | undefined {
  if (effort === 'none') {
    if (traits.leastThinking === 'low') return { effort: 'low' }
    return traits.thinking === 'none' ? {} : { thinking: { type: traits.leastThinking } }
  }
  if (traits.thinking === 'none') return undefined
  if (traits.thinking === 'adapts') {
    return { thinking: { type: 'adaptive', display: 'summarized' }, effort: effortOf(effort, traits) }
  }
  // The budget is a part of the limit and has a least size; below it there is no room to think.
  if (maxTokens <= leastBudget) return {}
  const budget = Math.max(leastBudget, Math.round(maxTokens * parts[effort]))
  return { thinking: { type: 'enabled', budget_tokens: Math.min(budget, maxTokens - 1) } }
}

function effortOf(effort: Exclude<Effort, 'none'>, { efforts }: ClaudeTraits): string {
  if (effort === 'minimal') return 'low'
  if (effort === 'xhigh') return efforts.includes('xhigh') ? 'xhigh' : (efforts[0] ?? 'high')
  if (effort === 'max') return efforts.includes('max') ? 'max' : 'high'
  return effort
}
