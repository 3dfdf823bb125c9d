/** Responses, for vendors that have the endpoint: events or a whole, passed on as they are wherever nothing must change. */
import { readJsonObject } from '../answer.ts'
import { isMediaType } from '../client.ts'
import { Verbatim, type Call, type ResponseAnswer } from '../contract.ts'
import { unavailable } from '../failure.ts'
import type { ResponseObject, ResponseRequest } from '../../wire/responses.ts'
import { readResponseEvents } from './response-events.ts'
import type { Vendor } from './vendor.ts'

export async function respond(vendor: Vendor, call: Call<ResponseRequest>): Promise<ResponseAnswer> {
  const { transfer, rename, failure } = await vendor.post('/responses', call)
  if (isMediaType(transfer.contentType, 'text/event-stream')) {
    return readResponseEvents(transfer, { rename, parsed: !call.stream, failure })
  }
  if (call.stream && !isMediaType(transfer.contentType, 'application/json')) {
    throw transfer.fail(unavailable('same', new Error('the vendor answered with something else than events')))
  }
  const { value, bytes } = await readJsonObject(transfer, vendor.client.answerBytes)
  const response = value as ResponseObject
  if (response.error) throw failure(response.error)
  return rename === undefined ? new Verbatim(response, bytes) : { ...response, model: rename }
}
