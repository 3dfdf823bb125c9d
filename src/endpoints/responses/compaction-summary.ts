/** Summaries that replace a conversation, for vendors without an endpoint for compaction. */
import { sealedSummary } from '../../formats/responses/compaction.ts'
import type { Call } from '../../providers/contract.ts'
import { useless } from '../../providers/failure.ts'
import type { InputItem, OutputItem, ResponsePart, ResponseRequest } from '../../wire/responses.ts'
import { amend, amendOrder, overlaid } from '../order.ts'
import { isTrigger } from './items.ts'
import type { ResponseOrder } from './request.ts'

/** What a request for a summary has instead of the fields of the client's. */
const summaryChanges = {
  previous_response_id: undefined,
  tools: undefined,
  tool_choice: undefined,
  parallel_tool_calls: undefined,
  text: undefined,
  include: undefined,
  store: false,
  stream: false,
} as const

/** The call for a summary instead of an answer, and its order. */
export function summarising(
  call: Call<ResponseRequest>,
  order: ResponseOrder,
): { readonly call: Call<ResponseRequest>; readonly order: ResponseOrder } {
  const items = [...order.conversation.items.filter((item) => !isTrigger(item)), summaryRequest]
  const changes = { ...summaryChanges, input: items }
  const conversation = { items, earlier: order.conversation.earlier, asSent: false }
  return {
    call: overlaid(amend(call, changes), { stream: false }),
    order: overlaid(amendOrder(order, changes), { conversation, archive: undefined, progress: undefined }),
  }
}

/** The compaction with the summary that a model has written, which every model can read. `id`: of the request. */
export function summaryItem(id: string, output: readonly OutputItem[]): OutputItem {
  const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content as ResponsePart[])
  const summary = parts
    .map(({ text = '' }) => text)
    .join('')
    .trim()
  if (summary === '') throw useless('the model wrote no summary')
  return { id: id.replace('req_', 'cmp_'), type: 'compaction', encrypted_content: sealedSummary(summary) }
}

/** The user's message that requests the summary, as the last turn of the conversation. */
const summaryRequest: InputItem = {
  type: 'message',
  role: 'user',
  content: [
    {
      type: 'input_text',
      text: [
        'Write a summary of our conversation so far. It will replace the conversation, and the assistant that continues',
        'it will know nothing else. Include the requests, the decisions and their reasons, what has been done, what is',
        'still open, and every name, number, path, identifier and quotation that may be needed later. Reply with the',
        'summary only.',
      ].join(' '),
    },
  ],
}
