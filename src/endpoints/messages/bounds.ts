import type { Call } from '../../providers/contract.ts'
import type { MessageRequest, ThinkingChoice } from '../../wire/messages.ts'

/** The smallest budget of thinking that Anthropic accepts. */
const leastBudget = 1_024

/**
 * The changes that keep `max_tokens` within the model's limit, and the budget of thinking below `max_tokens`: coding agents
 * ask every model for what the largest ones have. Empty if nothing has to change.
 */
export function withinLimits({ field, maxOutputTokens }: Call<MessageRequest>): Partial<MessageRequest> {
  const asked = field('max_tokens')
  const most =
    maxOutputTokens !== undefined && typeof asked === 'number' ? Math.min(asked, maxOutputTokens) : (asked as number)
  const thinking = field('thinking') as ThinkingChoice | null | undefined
  const limit = most === asked ? {} : { max_tokens: most }
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : undefined
  if (typeof budget !== 'number' || !(budget >= most)) return limit
  if (most <= leastBudget) return { ...limit, thinking: { type: 'disabled' } }
  return { ...limit, thinking: { ...(thinking as ThinkingChoice), budget_tokens: most - 1 } }
}
