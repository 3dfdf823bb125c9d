import { hasSucceeded, readCount, requireSuccess } from '../answer.ts'
import type { Call } from '../contract.ts'
import type { ResponseRequest } from '../../wire/responses.ts'
import { forceParse } from '../yielding.ts'
import { sendCorrected } from './responses.ts'
import type { Vendor } from './vendor.ts'

/** The fields that the vendor counts the tokens of. Source: OpenAI's API reference, Count input tokens. */
const counted = [
  'conversation',
  'input',
  'instructions',
  'model',
  'parallel_tool_calls',
  'previous_response_id',
  'reasoning',
  'text',
  'tool_choice',
  'tools',
  'truncation',
]

/** Undefined for a vendor without this count. */
export async function countResponse(vendor: Vendor, call: Call<ResponseRequest>): Promise<number | undefined> {
  await forceParse(call)
  const others = Object.keys(call.request).flatMap((name) => (counted.includes(name) ? [] : [[name, undefined]]))
  const transfer = await sendCorrected(vendor, '/responses/input_tokens', call, Object.fromEntries(others))
  if (transfer.status === 404 || transfer.status === 405) {
    transfer.stop()
    return undefined
  }
  if (!hasSucceeded(transfer)) await requireSuccess(transfer, call)
  return readCount(transfer, vendor.client.answerBytes, 'input_tokens')
}
