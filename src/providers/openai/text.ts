/** Chats and text completions. Bytes of the response that need no change are passed on as they are. */
import { hasSucceeded, readJsonObject, requireSuccess } from '../answer.ts'
import { isMediaType } from '../../http/media-type.ts'
import { cacheMarks } from '../cache-marks.ts'
import { Verbatim, type Call, type ChatAnswer, type ChatPiece, type CompletionAnswer } from '../contract.ts'
import { unreadable } from '../failure.ts'
import { withoutOwnCosts } from '../own-costs.ts'
import type { ChatCompletion, ChatRequest } from '../../wire/chat.ts'
import type { CompletionRequest, TextCompletion } from '../../wire/completions.ts'
import { changesFor } from './adapt.ts'
import { readFrames } from './frames.ts'
import type { OpenAIOptions } from './options.ts'
import { keyField, keyHeader } from './prompt-cache-key.ts'
import type { StartedResponse, Vendor } from './vendor.ts'

export async function chat(vendor: Vendor, call: Call<ChatRequest>, options: OpenAIOptions): Promise<ChatAnswer> {
  const changes = changesFor(call, options)
  if (options.promptCacheKey === 'prompt_cache_key') Object.assign(changes, keyField(call, options))
  const { markedModels, promptCache } = options
  const model = markedModels && vendor.modelOf(call)
  if (model !== undefined && markedModels?.test(model) === true) {
    const { messages } = changes
    Object.assign(
      changes,
      cacheMarks(call, { promptCache, model, instructions: 'messages', automatic: false, messages }),
    )
  }
  const transfer = await vendor.send('/chat/completions', call, changes, undefined, keyHeader(call, options))
  if (!hasSucceeded(transfer)) await requireSuccess(transfer, call)
  const started = vendor.started(transfer, call)
  return eventsIn(started, call) ?? readComplete<ChatCompletion>(started, vendor.client.answerBytes)
}

/** Undefined if the vendor, or this model, has no text completions: most models support only chats. */
export async function complete(
  vendor: Vendor,
  call: Call<CompletionRequest>,
  options: OpenAIOptions,
): Promise<CompletionAnswer | undefined> {
  if (vendor.onlyChats.has(vendor.modelOf(call))) return undefined
  // The legacy endpoint knows only `max_tokens`, whatever the vendor's chats use.
  const tokenLimit = options.tokenLimit && 'max_tokens'
  const transfer = await vendor.send('/completions', call, changesFor(call, { ...options, tokenLimit }))
  if (await vendor.lacks(transfer, call, vendor.onlyChats)) return undefined
  if (!hasSucceeded(transfer)) await requireSuccess(transfer, call)
  const started = vendor.started(transfer, call)
  return eventsIn(started, call) ?? readComplete<TextCompletion>(started, vendor.client.answerBytes)
}

/** Undefined for a JSON response. The content type decides, because some vendors ignore `stream`. */
function eventsIn(
  { transfer, rename, failure, costs, templates }: StartedResponse,
  { stream, inChunks }: Call<unknown>,
): AsyncIterable<ChatPiece> | undefined {
  if (isMediaType(transfer.contentType, 'text/event-stream')) {
    return readFrames(transfer, {
      rename: inChunks === true ? undefined : rename,
      parsed: !stream,
      inChunks,
      failure,
      costs,
      templates,
    })
  }
  if (!stream || isMediaType(transfer.contentType, 'application/json')) return undefined
  throw transfer.fail(unreadable("the vendor's response is not an event stream"))
}

/** Reads a non-streaming response. It keeps its bytes unless something must change. */
export function readComplete<T extends object>(
  { transfer, rename, failure, costs }: StartedResponse,
  maxBytes: number,
): T | Verbatim<T> | Promise<T | Verbatim<T>> {
  const complete = (answer: Verbatim<object>): T | Verbatim<T> => {
    const { error } = answer.value as { error?: unknown }
    if (error) throw failure(error)
    const value = withoutOwnCosts(answer.value, costs)
    if (rename !== undefined) return { ...value, model: rename } as unknown as T
    return value === answer.value ? (answer as Verbatim<T>) : (value as T)
  }
  const answer = readJsonObject(transfer, maxBytes)
  return answer instanceof Promise ? answer.then(complete) : complete(answer)
}
