/** The responses endpoint of vendors that have it. Bytes of the response that need no change are passed on as they are. */
import { readError, readJsonObject, requireSuccess } from '../answer.ts'
import { isMediaType } from '../../http/media-type.ts'
import { Verbatim, type Call, type ResponseAnswer } from '../contract.ts'
import { billed, unreadable } from '../failure.ts'
import { withoutOwnCosts } from '../own-costs.ts'
import type { Transfer } from '../transfer.ts'
import { chatUsage } from '../../wire/response-usage.ts'
import type { CompactionObject, InputItem, ResponseObject, ResponseRequest } from '../../wire/responses.ts'
import { fieldsOf, itemsOf, textOf, type Fields } from '../../wire/json.ts'
import type { OpenAIOptions } from './options.ts'
import { keyField } from './prompt-cache-key.ts'
import { readResponseEvents } from './response-events.ts'
import type { Vendor } from './vendor.ts'

export async function respond(
  vendor: Vendor,
  call: Call<ResponseRequest>,
  options: OpenAIOptions,
): Promise<ResponseAnswer> {
  const sent = await sendCorrected(vendor, '/responses', call, keyField(call, options))
  const { transfer, rename, failure } = vendor.started(sent, call)
  await requireSuccess(transfer, call)
  if (isMediaType(transfer.contentType, 'text/event-stream')) {
    const { stream, inChunks, costs } = call
    return readResponseEvents(transfer, { rename, parsed: !stream, inChunks, failure, costs })
  }
  if (call.stream && !isMediaType(transfer.contentType, 'application/json')) {
    throw transfer.fail(unreadable("the vendor's response is not an event stream"))
  }
  const { value, bytes } = await readJsonObject(transfer, vendor.client.answerBytes)
  const response = value as ResponseObject
  if (response.error) throw billed(failure(response.error), chatUsage(response.usage, response.output))
  const shown = withoutOwnCosts(response, call.costs)
  if (rename !== undefined) return { ...shown, model: rename }
  return shown === response ? new Verbatim(response, bytes) : shown
}

/** Undefined if the vendor, or this model, has no compactions. */
export async function compact(vendor: Vendor, call: Call<ResponseRequest>): Promise<CompactionObject | undefined> {
  if (vendor.neverCompacts.has(vendor.modelOf(call))) return undefined
  const transfer = await sendCorrected(vendor, '/responses/compact', call)
  if (await vendor.lacks(transfer, call, vendor.neverCompacts)) return undefined
  await requireSuccess(transfer, call)
  const { value } = await readJsonObject(transfer, vendor.client.answerBytes)
  return withoutOwnCosts(value as CompactionObject, call.costs)
}

/**
 * Sends the request, and resends it without what the vendor rejects of its reasoning. Models without reasoning reject a
 * request for it and earlier reasoning in the input; vendors reject reasoning that they encrypted with an expired key, or
 * that the client has changed or separated from its item. The client can do nothing about most of it. `fields`:
 * those that change in any case.
 */
export async function sendCorrected(
  vendor: Vendor,
  path: string,
  call: Call<ResponseRequest>,
  fields: Fields = {},
): Promise<Transfer> {
  const model = vendor.modelOf(call)
  let changes: Fields = vendor.plainReasoning.has(model) ? { ...withoutInclude(call), ...fields } : fields
  for (;;) {
    const transfer = await vendor.send(path, call, changes)
    if (transfer.status !== 400) return transfer
    const correction = correctionFor(await readError(transfer), call, changes)
    if (correction === undefined) return transfer
    if ('include' in correction) vendor.plainReasoning.set(model, true)
    changes = { ...changes, ...correction }
  }
}

/** What to change after a rejection; undefined if nothing helps, or if it was changed already. */
function correctionFor(error: unknown, call: Call<ResponseRequest>, changes: Fields): Fields | undefined {
  const { code, param, message = error } = fieldsOf(error)
  const text = textOf(message).slice(0, 2_000)
  if (isAboutInclude(param, text) && !('include' in changes) && asksForReasoning(call)) return withoutInclude(call)
  if ('input' in changes) return undefined
  return code === 'invalid_encrypted_content' || isAboutReasoning(text) ? withoutReasoning(call) : undefined
}

const encrypted = 'reasoning.encrypted_content'

function isAboutInclude(param: unknown, message: string): boolean {
  return /^include\b/.test(textOf(param)) || /encrypted.content is not supported/i.test(message)
}

/**
 * Whether an error is about reasoning in the input, as in "Item of type 'reasoning' was provided without its required
 * following item", "Could not decrypt the provided encrypted_content" and "Invalid 'input[1].content': array too long".
 */
function isAboutReasoning(message: string): boolean {
  return /'reasoning'|\breasoning (?:input )?items?\b|encrypted.content|'input\[\d+\]\.(?:content|summary)'/i.test(
    message,
  )
}

function asksForReasoning({ field }: Call<unknown>): boolean {
  return itemsOf(field('include')).includes(encrypted)
}

function withoutInclude({ field }: Call<unknown>): Fields {
  const others = itemsOf(field('include')).filter((each) => each !== encrypted)
  return { include: others.length > 0 ? others : undefined }
}

/** The input without reasoning items; undefined if it has none. */
function withoutReasoning({ field }: Call<unknown>): Fields | undefined {
  const input = field('input')
  if (!Array.isArray(input)) return undefined
  const others = (input as InputItem[]).filter(({ type }) => type !== 'reasoning')
  return others.length < input.length ? { input: others } : undefined
}
