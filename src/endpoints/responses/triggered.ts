/** Responses to requests whose last item asks for a compaction, as Codex sends it, by vendors that do not know it. */
import type { Call, Provider } from '../../providers/contract.ts'
import type { ResponseObject, ResponseRequest } from '../../wire/responses.ts'
import { summarising, summaryItem } from './compaction-summary.ts'
import { emptyResponse, type ResponseContext } from './empty-response.ts'
import { translatedResponse } from './translated.ts'

/** A response whose only item replaces the conversation: a summary by the model. */
export async function compactingResponse(
  provider: Provider,
  call: Call<ResponseRequest>,
  context: ResponseContext,
): Promise<ResponseObject> {
  const asked = summarising(call, context.order)
  const answer = await translatedResponse(provider, asked.call, { ...context, order: asked.order })
  if (Symbol.asyncIterator in answer) throw new TypeError('a non-streaming call returned a stream')
  const { status, usage, output } = answer
  return { ...emptyResponse(context), status, usage, output: [summaryItem(context.id, output)] }
}
