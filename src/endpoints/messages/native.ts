/** The request as a vendor with Anthropic's Messages API gets it. */
import type { Call } from '../../providers/contract.ts'
import type { MessageRequest } from '../../wire/messages.ts'
import type { Context } from '../endpoint.ts'
import { amend, overlaid } from '../order.ts'
import { withinLimits } from './bounds.ts'
import { withoutCosts } from './headers.ts'
import { readableHistory } from './history.ts'
import { thinkingMakerOf } from './thinking-maker.ts'

/**
 * The same call, unless a part of it would change what the host pays, exceeds the model, or is state of another vendor. What
 * is left of the request stays byte for byte.
 */
export function nativeCall(
  call: Call<MessageRequest>,
  { meter, model }: Pick<Context<unknown>, 'meter' | 'model'>,
): Call<MessageRequest> {
  const changes = { ...withinLimits(call), ...readableHistory(call, thinkingMakerOf(call.model)) }
  const changed = Object.keys(changes).length === 0 ? call : amend(call, changes)
  const { clientHeaders: given } = call
  if (given === undefined) return changed
  const clientHeaders = withoutCosts(given, model, (name) => meter.omit(name))
  return clientHeaders === given ? changed : overlaid(changed, { clientHeaders })
}
