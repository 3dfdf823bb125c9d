/** Moderations. A response that needs no change is passed on as bytes. */
import type { Call, ModerationAnswer } from '../contract.ts'
import type { ModerationList, ModerationRequest } from '../../wire/moderations.ts'
import { readComplete } from './text.ts'
import type { Vendor } from './vendor.ts'

export async function moderate(vendor: Vendor, call: Call<ModerationRequest>): Promise<ModerationAnswer> {
  return readComplete<ModerationList>(await vendor.post('/moderations', call), vendor.client.answerBytes)
}
