import { readJsonObject } from '../answer.ts'
import type { Call } from '../contract.ts'
import { unreadable } from '../failure.ts'
import { forceParse } from '../yielding.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { send } from './send.ts'
import type { RequestOptions } from './request.ts'
import { collectionOf, type Vendor } from './vendor.ts'

/** The fields that Vertex AI counts. Source: the reference of Vertex AI, countTokens. */
const counted = ['contents', 'systemInstruction', 'tools', 'generationConfig']

/** Counts the tokens of a chat. Source: the Gemini API reference, models.countTokens. */
export async function countChat(vendor: Vendor, call: Call<ChatRequest>, options: RequestOptions): Promise<number> {
  await forceParse(call)
  const { transfer } = await send(vendor, call, options, {
    method: () => 'countTokens',
    body: (body) =>
      isVertex(vendor)
        ? Object.fromEntries(Object.entries(body).filter(([name]) => counted.includes(name)))
        : { generateContentRequest: { model: collectionOf(call.model), ...body } },
  })
  const { totalTokens } = (await readJsonObject(transfer, vendor.client.answerBytes)).value as { totalTokens?: unknown }
  if (Number.isSafeInteger(totalTokens) && Number(totalTokens) >= 0) return totalTokens as number
  throw unreadable("the vendor's response has no count of tokens")
}

/** Vertex AI has the models below their publisher. */
function isVertex({ base }: Vendor): boolean {
  return base.includes('/publishers/')
}
