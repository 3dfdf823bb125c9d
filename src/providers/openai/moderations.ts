/** Moderations: passed on as the bytes they are where nothing must change. */
import type { Call, ModerationAnswer } from '../contract.ts'
import type { ModerationList, ModerationRequest } from '../../wire/moderations.ts'
import { wholeIn } from './text.ts'
import type { Vendor } from './vendor.ts'

export async function moderate(vendor: Vendor, call: Call<ModerationRequest>): Promise<ModerationAnswer> {
  return wholeIn<ModerationList>(await vendor.post('/moderations', call), vendor.client.answerBytes)
}
