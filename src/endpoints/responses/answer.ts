/** The responses endpoint's reply: opened, written as events or as a whole, and stored. */
import { textBytes } from '../../money/prices/estimate.ts'
import type { Tally } from '../../money/tally.ts'
import { estimateTokens } from '../../wire/counts.ts'
import { doneFrame, eventFrame } from '../../http/sse.ts'
import { ContentFrames, Verbatim, type Call, type Provider, type ResponsePiece } from '../../providers/contract.ts'
import { yieldIfLarge } from '../../providers/yielding.ts'
import { billed, retrySame, unreadable } from '../../providers/failure.ts'
import type { InputItem, ResponseEvent, ResponseObject, ResponseRequest } from '../../wire/responses.ts'
import { usageOf } from '../../wire/usage.ts'
import { makerOf } from '../../formats/envelope.ts'
import { emptyResponse, type ResponseContext } from './empty-response.ts'
import { completed, isTrigger } from './items.ts'
import { ResponseProgress } from './progress.ts'
import type { ResponseOrder } from './request.ts'
import { afterFirstContent } from '../first-content.ts'
import { streamOf, type Open } from '../open.ts'
import { readVendor } from '../read-vendor.ts'
import { stateless } from './stateless.ts'
import { eventsOf, translatedResponse } from './translated.ts'
import { compactingResponse } from './triggered.ts'
import { chatUsage, responseUsage } from '../../wire/response-usage.ts'

/** A response that has arrived, or whose first content has. */
export type OpenResponse = Open<ResponseObject, ResponsePiece>

/**
 * Calls the provider, in another format if it has no responses endpoint. Resolves once the first content or the whole
 * response has arrived; a whole response is stored before.
 */
export async function openResponse(
  provider: Provider,
  call: Call<ResponseRequest>,
  context: ResponseContext,
): Promise<OpenResponse> {
  const maker = makerOf(provider)
  const isNative = provider.respond !== undefined && context.inParts !== true
  const progress = progressOf(context, call.model !== call.publicModel, isNative ? maker : undefined)
  context.order.progress = progress
  const answer = await answered(provider, call, context, maker)
  if (Symbol.asyncIterator in answer) {
    if (call.stream) return begin(answer)
    return { kind: 'whole', body: await ended(await lastOf(answer, progress, context.meter), context) }
  }
  const raw = answer instanceof Verbatim ? answer.value : answer
  requireEnd(raw)
  countTier(raw, context.meter)
  if (call.stream) {
    context.order.progress = progressOf(context, true)
    return begin(await eventsOf(raw, provider, call, context))
  }
  const whole = readVendor(() => progress.whole(raw))
  if (isNative && chatUsage(raw.usage) === undefined) context.meter.textBytes = textBytes(raw.output)
  const response = await ended(whole, context)
  const untouched = answer instanceof Verbatim && response === raw
  return { kind: 'whole', body: response, bytes: untouched ? answer.bytes : undefined }
}

async function answered(provider: Provider, call: Call<ResponseRequest>, context: ResponseContext, maker: string) {
  if (provider.respond !== undefined && context.inParts !== true)
    return provider.respond(stateless(call, context.order, maker))
  const last = context.order.conversation.items.at(-1)
  if (last !== undefined && isTrigger(last)) return compactingResponse(provider, call, context)
  return translatedResponse(provider, call, context)
}

/** Creates the progress for a request. `maker`: the vendor of the items; undefined if the gateway makes them. */
export function progressOf(context: ResponseContext, renamed: boolean, maker?: string): ResponseProgress {
  const { progress: earlier } = context.order
  return new ResponseProgress({ empty: emptyResponse(context), renamed, maker, earlier })
}

const openings = new Set(['response.created', 'response.in_progress', 'response.queued'])

/** Reads up to the first content: an error before it can still become an HTTP status, or another attempt. */
async function begin(pieces: AsyncIterable<ResponsePiece>): Promise<OpenResponse> {
  return { kind: 'stream', pieces: await afterFirstContent(pieces, hasContent, hasContent) }
}

function hasContent(piece: ResponsePiece): boolean {
  return piece instanceof ContentFrames || !openings.has(piece.type)
}

/** Reads all events; the response of the last one, for a client that does not stream. */
async function lastOf(
  pieces: AsyncIterable<ResponsePiece>,
  progress: ResponseProgress,
  meter: Tally,
): Promise<ResponseObject> {
  for await (const piece of pieces) {
    if (piece instanceof ContentFrames) throw new TypeError('the provider returned frames for a non-streaming call')
    readVendor(() => progress.accept(piece))
    count(piece, meter)
    if (!isEnd(piece)) continue
    countTier(piece.response, meter)
    return progress.response
  }
  throw withoutEnd()
}

/** The frames of a streamed response. Stores the response before the last event. */
export async function* responseFrames(
  answer: OpenResponse,
  context: ResponseContext,
): AsyncGenerator<string | Uint8Array, void, void> {
  const { meter } = context
  const progress = context.order.progress as ResponseProgress
  for await (const piece of streamOf(answer).pieces) {
    if (piece instanceof ContentFrames) {
      meter.textBytes += piece.textBytes
      yield progress.passThrough(piece.bytes)
      continue
    }
    if (progress.created && piece.type === 'response.created') continue
    const event = readVendor(() => progress.accept(piece))
    count(event, meter)
    if (isEnd(event)) {
      countTier(piece.response, meter)
      yield eventFrame(event.type, { ...event, response: await ended(progress.response, context) })
      return yield doneFrame
    }
    yield eventFrame(event.type, event)
  }
  throw withoutEnd()
}

function count({ delta }: ResponseEvent, meter: Tally): void {
  if (typeof delta === 'string') meter.textBytes += Buffer.byteLength(delta)
}

/** Counts the service tier of the vendor's response, before the requested one fills in for a missing one. */
function countTier(raw: ResponseObject | undefined, meter: Tally): void {
  const tier = raw?.['service_tier']
  if (typeof tier === 'string') meter.serviceTier = tier
}

/** Whether an event is the last one. Throws if it reports a failure. */
function isEnd({ type, response }: ResponseEvent): boolean {
  if (response === undefined || openings.has(type)) return false
  requireEnd(response)
  return true
}

function requireEnd({ status, usage, output }: ResponseObject): void {
  if (status === 'completed' || status === 'incomplete') return
  throw billed(retrySame(new Error(`the vendor ended the response as "${status}"`)), chatUsage(usage, output))
}

/** The response as the client gets it: with usage, and already stored, so that the client can continue it at once. */
async function ended(response: ResponseObject, { id, order, meter, observer }: ResponseContext) {
  // What a translated answer reports was counted while it was read, and otherwise is an estimate.
  const counted = order.progress?.isTranslated === true ? meter.usage : chatUsage(response.usage, response.output)
  const usage = counted ?? usageOf(order.promptTokens, estimateTokens(meter.textBytes))
  if (counted !== undefined) meter.usage = counted
  meter.watch?.answered({ id: response.id })
  const whole = completedAt(counted === undefined ? { ...response, usage: responseUsage(usage) } : response, order)
  const { archive, conversation } = order
  if (archive === undefined) return whole
  const stored = { input: withIds(id, order), response: whole }
  await yieldIfLarge(order)
  try {
    await archive.put(stored, stored.input.slice(conversation.earlier))
    return whole
  } catch (error) {
    observer.failure({ id, error })
    return { ...whole, store: false }
  }
}

/** A vendor with this format says itself when the response was complete. */
function completedAt(response: ResponseObject, { progress, now }: ResponseOrder): ResponseObject {
  if (progress?.isTranslated !== true || response.status !== 'completed') return response
  return { ...response, completed_at: Math.floor(now() / 1000) }
}

/** All items that the model received, as `input_items` lists them. */
export function withIds(id: string, { conversation }: ResponseOrder): readonly InputItem[] {
  const { earlier } = conversation
  const items = conversation.items.filter((item) => !isTrigger(item))
  return [...items.slice(0, earlier), ...completed(items.slice(earlier), newItemId(id))]
}

/** Makes the ids of the items of one request. */
export function newItemId(id: string): (kind: string) => string {
  let count = 0
  return (kind) => `${prefixes.get(kind) ?? 'item'}_${id.replace('req_', '')}i${(count++).toString(16)}`
}

const prefixes = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['function_call_output', 'fco'],
  ['custom_tool_call', 'ctc'],
  ['custom_tool_call_output', 'ctco'],
])

function withoutEnd() {
  return unreadable('the vendor ended the stream without the last event')
}
