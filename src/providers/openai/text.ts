/** Chats and text completions: chunks or a whole, passed on as the bytes they are wherever nothing must change. */
import { readError, readJsonObject, requireSuccess } from '../answer.ts'
import { isMediaType } from '../client.ts'
import { Verbatim, type Call, type ChatAnswer, type ChatPiece, type CompletionAnswer } from '../contract.ts'
import { unavailable } from '../failure.ts'
import type { ChatCompletion, ChatRequest } from '../../wire/chat.ts'
import type { CompletionRequest, TextCompletion } from '../../wire/completions.ts'
import { readFrames } from './frames.ts'
import type { OpenAIOptions } from './openai.ts'
import type { Begun, Vendor } from './vendor.ts'

export async function chat(vendor: Vendor, call: Call<ChatRequest>, options: OpenAIOptions): Promise<ChatAnswer> {
  const changes = { ...usageAsked(call, options), ...limitRenamed(call, options) }
  const begun = await vendor.post('/chat/completions', call, changes)
  return eventsIn(begun, call) ?? (await wholeIn<ChatCompletion>(begun, vendor.client.answerBytes))
}

/** Undefined where the vendor, or this model of it, has no such endpoint: most models only chat. */
export async function complete(
  vendor: Vendor,
  call: Call<CompletionRequest>,
  options: OpenAIOptions,
): Promise<CompletionAnswer | undefined> {
  const model = vendor.modelOf(call)
  if (vendor.onlyChats.has(model)) return undefined
  const transfer = await vendor.send('/completions', call, usageAsked(call, options))
  const begun = vendor.begun(transfer, call)
  if (transfer.status === 404 || transfer.status === 405) {
    const error = await readError(transfer)
    if ((error as { code?: unknown } | undefined)?.code === 'model_not_found') throw begun.failure(error)
    vendor.onlyChats.add(model)
    return undefined
  }
  await requireSuccess(transfer, call)
  return eventsIn(begun, call) ?? (await wholeIn<TextCompletion>(begun, vendor.client.answerBytes))
}

/** Vendors may answer a call for events with a whole, and the other way round: what came decides. */
function eventsIn(
  { transfer, rename, failure }: Begun,
  { stream }: Call<unknown>,
): AsyncIterable<ChatPiece> | undefined {
  if (isMediaType(transfer.contentType, 'text/event-stream')) {
    return readFrames(transfer, { rename, parsed: !stream, failure })
  }
  if (!stream || isMediaType(transfer.contentType, 'application/json')) return undefined
  throw transfer.fail(unavailable('same', new Error('the vendor answered with something else than events')))
}

async function wholeIn<T extends object>(
  { transfer, rename, failure }: Begun,
  maxBytes: number,
): Promise<T | Verbatim<T>> {
  const { value, bytes } = await readJsonObject(transfer, maxBytes)
  const { error } = value as { error?: unknown }
  if (error) throw failure(error)
  return rename === undefined ? new Verbatim(value as T, bytes) : ({ ...value, model: rename } as unknown as T)
}

/** Usage is always asked for: without it the answer could only be billed by estimate. */
function usageAsked({ stream, field }: Call<unknown>, { usageInStreams }: OpenAIOptions): Record<string, unknown> {
  if (!stream || usageInStreams === false) return {}
  return { stream_options: { ...Object(field('stream_options')), include_usage: true } }
}

function limitRenamed({ field }: Call<unknown>, { tokenLimit }: OpenAIOptions): Record<string, unknown> {
  if (tokenLimit === undefined) return {}
  const other = tokenLimit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  const limit = field(other)
  return limit === undefined ? {} : { [other]: undefined, [tokenLimit]: field(tokenLimit) ?? limit }
}
