/** Summaries that replace a conversation, for vendors without an endpoint for compaction. */
import { GatewayError } from '../../errors.ts'
import type { InputItem, OutputItem, ResponsePart } from '../../wire/responses.ts'
import { anyMaker, seal, unseal } from '../../formats/envelope.ts'

/** A compaction item with a summary, which every model can read. */
export function summaryItem(id: string, summary: string): OutputItem {
  return { id, type: 'compaction', encrypted_content: seal(anyMaker, Buffer.from(summary).toString('base64url')) }
}

/** The summary in an item, as a user's message; undefined for a compaction that only its vendor can read. */
export function summaryText({ encrypted_content: encrypted }: InputItem): string | undefined {
  const packed = unseal(encrypted, anyMaker)
  if (packed === undefined) return undefined
  return `A summary of our conversation so far:\n\n${Buffer.from(packed, 'base64url').toString('utf8')}`
}

/** The error for a compaction of another vendor. Without it, the model would silently miss the earlier conversation. */
export function compactedByOther(param: string): GatewayError {
  const message = 'This model cannot read a conversation that another vendor compacted. Use a model of that vendor.'
  return new GatewayError('unsupported_value', { param, message })
}

/** What a request for a summary has instead of the fields of the client's. */
export const summaryChanges = {
  previous_response_id: undefined,
  tools: undefined,
  tool_choice: undefined,
  parallel_tool_calls: undefined,
  text: undefined,
  include: undefined,
  store: false,
  stream: false,
} as const

/** The summary that a model has written; empty if it wrote none. */
export function summaryIn(output: readonly OutputItem[]): string {
  const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content as ResponsePart[])
  return parts
    .map(({ text = '' }) => text)
    .join('')
    .trim()
}

/** The user's message that requests the summary, as the last turn of the conversation. */
export const summaryRequest: InputItem = {
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
