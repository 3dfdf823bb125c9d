import { hasSucceeded, readJsonObject, requireSuccess } from '../answer.ts'
import type { Call } from '../contract.ts'
import type { ResponseRequest } from '../../wire/responses.ts'
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
  const others = Object.keys(call.request).filter((name) => !counted.includes(name))
  const changes = Object.fromEntries(others.map((name) => [name, undefined]))
  const transfer = await vendor.send('/responses/input_tokens', call, changes)
  if (transfer.status === 404 || transfer.status === 405) {
    transfer.stop()
    return undefined
  }
  if (!hasSucceeded(transfer)) await requireSuccess(transfer, call)
  const { input_tokens: tokens } = (await readJsonObject(transfer, vendor.client.answerBytes)).value as {
    input_tokens?: unknown
  }
  return typeof tokens === 'number' && tokens >= 0 ? tokens : undefined
}
