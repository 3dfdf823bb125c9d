/** Translates `reasoning_effort`. */
import type { Effort } from '../../conversation/conversation.ts'
import type { ClaudeTraits } from '../../providers/message-traits.ts'

/** Fields of the request: `thinking`, and `effort` for `output_config`. */
export interface ThinkingFields {
  readonly thinking?: Readonly<Record<string, unknown>> | undefined
  readonly effort?: string | undefined
}

/** The thinking budget as a fraction of the output limit. */
const parts = { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.9, max: 0.95 }
const leastBudget = 1_024

/** Undefined if the model has no reasoning. */
export function thinkingFor(
  effort: Effort | 'none',
  traits: ClaudeTraits,
  maxTokens: number,
): ThinkingFields | undefined {
  if (effort === 'none') {
    if (traits.leastThinking === 'low') return { effort: 'low' }
    return traits.thinking === 'none' ? {} : { thinking: { type: traits.leastThinking } }
  }
  if (traits.thinking === 'none') return undefined
  if (traits.thinking === 'adapts') {
    return { thinking: { type: 'adaptive', display: 'summarized' }, effort: effortOf(effort, traits) }
  }
  // The budget counts toward the output limit and has a minimum, so a small limit leaves none.
  if (maxTokens <= leastBudget) return {}
  const budget = Math.max(leastBudget, Math.round(maxTokens * parts[effort]))
  return { thinking: { type: 'enabled', budget_tokens: Math.min(budget, maxTokens - 1) } }
}

function effortOf(effort: Effort, { efforts }: ClaudeTraits): string {
  if (effort === 'minimal') return 'low'
  if (effort === 'xhigh') return efforts.includes('xhigh') ? 'xhigh' : (efforts[0] ?? 'high')
  if (effort === 'max') return efforts.includes('max') ? 'max' : 'high'
  return effort
}
