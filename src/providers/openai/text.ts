/** Chats and text completions: chunks or a whole, passed on as the bytes they are wherever nothing must change. */
import { readError, readJsonObject, requireSuccess } from '../answer.ts'
import { isMediaType } from '../client.ts'
import { Verbatim, type Call, type ChatAnswer, type ChatPiece, type CompletionAnswer } from '../contract.ts'
import { retrySame } from '../failure.ts'
import type { ChatCompletion, ChatRequest } from '../../wire/chat.ts'
import type { CompletionRequest, TextCompletion } from '../../wire/completions.ts'
import { adapted } from './adapt.ts'
import { readFrames } from './frames.ts'
import type { OpenAIOptions } from './options.ts'
import type { Begun, Vendor } from './vendor.ts'

export async function chat(vendor: Vendor, call: Call<ChatRequest>, options: OpenAIOptions): Promise<ChatAnswer> {
  const begun = await vendor.post('/chat/completions', call, adapted(call, options))
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
  const transfer = await vendor.send('/completions', call, adapted(call, olderLimit(options)))
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

/** The legacy endpoint knows one name only, whatever the vendor's chats take. */
function olderLimit(options: OpenAIOptions): OpenAIOptions {
  return options.tokenLimit === undefined ? options : { ...options, tokenLimit: 'max_tokens' }
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
  throw transfer.fail(retrySame(new Error('the vendor answered with something else than events')))
}

/** An answer that is no stream: as its bytes, unless the name of the model must change. */
export async function wholeIn<T extends object>(
  { transfer, rename, failure }: Begun,
  maxBytes: number,
): Promise<T | Verbatim<T>> {
  const { value, bytes } = await readJsonObject(transfer, maxBytes)
  const { error } = value as { error?: unknown }
  if (error) throw failure(error)
  return rename === undefined ? new Verbatim(value as T, bytes) : ({ ...value, model: rename } as unknown as T)
}
