/** The request as a vendor with Anthropic's Messages API gets it. */
import type { Call } from '../../providers/contract.ts'
import type { MessageRequest, ThinkingChoice } from '../../wire/messages.ts'
import type { Context } from '../endpoint.ts'
import { amend, overlaid } from '../order.ts'
import { withoutCosts } from './headers.ts'
import { readableHistory, readableSystem } from './history.ts'
import { thinkingMakerOf } from '../../formats/messages/thinking-maker.ts'

/**
 * The same call, unless a part of it would change what the host pays, exceeds the model, or is state of another vendor. What
 * is left of the request stays byte for byte.
 */
export function nativeCall(
  call: Call<MessageRequest>,
  { meter, model }: Pick<Context<unknown>, 'model'> & { readonly meter: Pick<Context<unknown>['meter'], 'omit'> },
): Call<MessageRequest> {
  const maker = thinkingMakerOf(call.model)
  const changes = { ...withinLimits(call), ...readableHistory(call, maker), ...readableSystem(call, maker) }
  const changed = Object.keys(changes).length === 0 ? call : amend(call, changes)
  const { clientHeaders: given } = call
  if (given === undefined) return changed
  const clientHeaders = withoutCosts(given, model, (name) => meter.omit(name))
  return clientHeaders === given ? changed : overlaid(changed, { clientHeaders })
}

/** The smallest budget of thinking that Anthropic accepts. */
const leastBudget = 1_024

/**
 * The changes that keep `max_tokens` within the model's limit, and the budget of thinking below `max_tokens`: coding agents
 * ask every model for what the largest ones have. Empty if nothing has to change.
 */
function withinLimits({ field, maxOutputTokens }: Call<MessageRequest>): Partial<MessageRequest> {
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
