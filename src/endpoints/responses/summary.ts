/** A conversation in a few words: an item that stands for it, which every model can read. */
import { GatewayError } from '../../errors.ts'
import type { InputItem, OutputItem } from '../../wire/responses.ts'
import { anyMaker, seal, unseal } from '../envelope.ts'

export function summaryItem(id: string, summary: string): OutputItem {
  return { id, type: 'compaction', encrypted_content: seal(anyMaker, Buffer.from(summary).toString('base64url')) }
}

/** The item as a user tells it; undefined for one that only its vendor can read. */
export function recalled({ encrypted_content: opaque }: InputItem): string | undefined {
  const packed = unseal(opaque, anyMaker)
  if (packed === undefined) return undefined
  return `A summary of our conversation so far:\n\n${Buffer.from(packed, 'base64url').toString('utf8')}`
}

/** A conversation whose beginning cannot be read must not go on as if there had been none. */
export function unreadableSummary(param: string): GatewayError {
  const message = 'This model cannot read a conversation that another vendor has compacted.'
  return new GatewayError('unsupported_value', { param, message })
}

/** Asks for the summary, as the last turn of the conversation. */
export const summaryRequest: InputItem = {
  type: 'message',
  role: 'user',
  content: [
    {
      type: 'input_text',
      text: [
        'Write a summary of our conversation so far. It will replace the conversation: whoever goes on knows nothing else.',
        'Keep what was asked for, what was decided and why, what has been done, what is still open, and every name, number,',
        'path, identifier and quotation that may be needed again. Answer with the summary alone.',
      ].join(' '),
    },
  ],
}
