import { readJsonObject } from '../answer.ts'
import type { Call } from '../contract.ts'
import { unreadable } from '../failure.ts'
import { forceParse } from '../turns.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { requestFor, type RequestOptions } from './request.ts'
import { collectionOf, type Vendor } from './vendor.ts'

/** Counts the tokens of a chat. Source: the Gemini API reference, models.countTokens. */
export async function countChat(vendor: Vendor, call: Call<ChatRequest>, options: RequestOptions): Promise<number> {
  await forceParse(call)
  const { body } = requestFor(call, options)
  const generateContentRequest = { model: collectionOf(call.model), ...body }
  const transfer = await vendor.post(call, 'countTokens', { generateContentRequest })
  const { totalTokens } = (await readJsonObject(transfer, vendor.client.answerBytes)).value as { totalTokens?: unknown }
  if (Number.isSafeInteger(totalTokens) && Number(totalTokens) >= 0) return totalTokens as number
  throw unreadable("the vendor's response has no count of tokens")
}
