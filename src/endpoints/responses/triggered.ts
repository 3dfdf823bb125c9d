/** Responses to requests whose last item asks for a compaction, as Codex sends it, by vendors that do not know it. */
import type { Call, Provider } from '../../providers/contract.ts'
import { useless } from '../../providers/failure.ts'
import type { ResponseObject, ResponseRequest } from '../../wire/responses.ts'
import { amend, amendOrder, overlaid } from '../order.ts'
import { summaryChanges, summaryIn, summaryItem, summaryRequest } from './compaction-summary.ts'
import { emptyResponse, type ResponseContext } from './empty-response.ts'
import { isTrigger } from './items.ts'
import { translatedResponse } from './translated.ts'

/** A response whose only item replaces the conversation: a summary by the model. */
export async function compactingResponse(
  provider: Provider,
  call: Call<ResponseRequest>,
  context: ResponseContext,
): Promise<ResponseObject> {
  const { order } = context
  const items = [...order.conversation.items.filter((item) => !isTrigger(item)), summaryRequest]
  const changes = { ...summaryChanges, input: items }
  const conversation = { items, earlier: order.conversation.earlier, asSent: false }
  const own = overlaid(amendOrder(order, changes), { conversation })
  const whole = overlaid(amend(call, changes), { stream: false })
  const answer = await translatedResponse(provider, whole, { ...context, order: own })
  if (Symbol.asyncIterator in answer) throw new TypeError('a non-streaming call returned a stream')
  const { status, usage, output } = answer
  const summary = summaryIn(output)
  if (summary === '') throw useless('the model wrote no summary')
  const item = summaryItem(context.id.replace('req_', 'cmp_'), summary)
  return { ...emptyResponse(context), status, usage, output: [item] }
}
