/** The responses endpoint of vendors that have it. Bytes of the response that need no change are passed on as they are. */
import { readError, readJsonObject, requireSuccess } from '../answer.ts'
import { isMediaType } from '../client.ts'
import { Verbatim, type Call, type ResponseAnswer } from '../contract.ts'
import { retrySame } from '../failure.ts'
import type { Transfer } from '../transfer.ts'
import { vendorError } from '../vendor-error.ts'
import type { CompactionObject, InputItem, ResponseObject, ResponseRequest } from '../../wire/responses.ts'
import { readResponseEvents } from './response-events.ts'
import type { Vendor } from './vendor.ts'

export async function respond(vendor: Vendor, call: Call<ResponseRequest>): Promise<ResponseAnswer> {
  const { transfer, rename, failure } = vendor.started(await send(vendor, '/responses', call), call)
  await requireSuccess(transfer, call)
  if (isMediaType(transfer.contentType, 'text/event-stream')) {
    return readResponseEvents(transfer, { rename, parsed: !call.stream, failure })
  }
  if (call.stream && !isMediaType(transfer.contentType, 'application/json')) {
    throw transfer.fail(retrySame(new Error("the vendor's response is not an event stream")))
  }
  const { value, bytes } = await readJsonObject(transfer, vendor.client.answerBytes)
  const response = value as ResponseObject
  if (response.error) throw failure(response.error)
  return rename === undefined ? new Verbatim(response, bytes) : { ...response, model: rename }
}

/** Undefined if the vendor, or this model, has no compactions. */
export async function compact(vendor: Vendor, call: Call<ResponseRequest>): Promise<CompactionObject | undefined> {
  const model = vendor.modelOf(call)
  if (vendor.neverCompacts.has(model)) return undefined
  const transfer = await send(vendor, '/responses/compact', call)
  if (transfer.status === 404 || transfer.status === 405) {
    const error = await readError(transfer)
    if ((Object(error) as { code?: unknown }).code === 'model_not_found')
      throw vendor.started(transfer, call).failure(error)
    vendor.neverCompacts.add(model)
    return undefined
  }
  await requireSuccess(transfer, call)
  return (await readJsonObject(transfer, vendor.client.answerBytes)).value as CompactionObject
}

/**
 * Sends the request, and resends it without encrypted reasoning if the vendor rejects that. Models without reasoning
 * reject a request for it, and vendors reject reasoning that they encrypted with an expired key. The client can do nothing
 * about either.
 */
async function send(vendor: Vendor, path: string, call: Call<ResponseRequest>): Promise<Transfer> {
  const model = vendor.modelOf(call)
  const changes = vendor.plainReasoning.has(model) ? withoutInclude(call) : {}
  const transfer = await vendor.send(path, call, changes)
  if (transfer.status !== 400) return transfer
  const error = await readError(transfer)
  const { code, param, message } = Object(error) as { code?: unknown; param?: unknown; message?: unknown }
  if (code === 'invalid_encrypted_content') {
    const readable = withoutReasoning(call)
    if (readable !== undefined) return vendor.send(path, call, { ...changes, ...readable })
  } else if (isAbout(param, message) && asksForReasoning(call) && !vendor.plainReasoning.has(model)) {
    vendor.plainReasoning.add(model)
    return vendor.send(path, call, withoutInclude(call))
  }
  throw vendorError({ status: 400, error, openModel: call.openModel, sent: call.field })
}

const encrypted = 'reasoning.encrypted_content'

function isAbout(param: unknown, message: unknown): boolean {
  if (typeof param === 'string' && /^include\b/.test(param)) return true
  return typeof message === 'string' && /encrypted.content is not supported/i.test(message)
}

function asksForReasoning({ field }: Call<unknown>): boolean {
  const include = field('include')
  return Array.isArray(include) && include.includes(encrypted)
}

function withoutInclude({ field }: Call<unknown>): Record<string, unknown> {
  const include = field('include')
  const others = Array.isArray(include) ? include.filter((each) => each !== encrypted) : []
  return { include: others.length > 0 ? others : undefined }
}

/** The input without reasoning items; undefined if it has none. */
function withoutReasoning({ field }: Call<unknown>): Record<string, unknown> | undefined {
  const input = field('input')
  if (!Array.isArray(input)) return undefined
  const others = (input as InputItem[]).filter(({ type }) => type !== 'reasoning')
  return others.length < input.length ? { input: others } : undefined
}
