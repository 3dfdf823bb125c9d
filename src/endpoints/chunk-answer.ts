/** Responses to chat and text completions: converts a provider's response to the form the client requested. */
import { textInAnswer } from '../money/prices/estimate.ts'
import type { AnsweredResponse, Tally } from '../money/tally.ts'
import { estimateTokens, readUsage } from '../wire/counts.ts'
import { stringOf, type Fields } from '../wire/json.ts'
import { jsonReply } from '../http/answers.ts'
import type { Reply } from '../http/exchange.ts'
import { ContentFrames, Verbatim, type Call } from '../providers/contract.ts'
import { usageOf, type Usage } from '../wire/usage.ts'
import type { AnswerHead } from './chunk-facts.ts'
import { begin, chunkFrames, frameOf, tell, type ChunkState, type OpenStream } from './chunk-stream.ts'
import type { Model } from '../models/contract.ts'
import type { Context } from './endpoint.ts'
import { replyOf, streamOf, wholeOf, type Open } from './open.ts'
import { readVendor } from './read-vendor.ts'

/** The response format of an endpoint. `renamed`: the model name in the response is replaced by the gateway's. */
export interface AnswerForm<Chunk, Full extends object, Whole> {
  /** Prefix of the ids that the gateway generates. */
  readonly idPrefix: string
  /** Creates the state that normalises the chunks of one response. `maker`: see `openAnswer`. */
  readonly state: (head: AnswerHead, renamed: boolean, maker?: string) => ChunkState<Chunk, Full>
  /** Whether a chunk has content or a finish reason, and not only a role. */
  readonly hasContent: (chunk: Chunk) => boolean
  /** Normalises a vendor's non-streaming response; the same object if nothing has to change. `maker`: see `openAnswer`. */
  readonly normalise: (raw: Whole, head: AnswerHead, renamed: boolean, maker?: string) => Whole
}

/** A response whose first content, or all of it, has arrived. */
export type OpenAnswer<Chunk, Full extends object, Whole> = Open<
  Whole,
  Chunk | ContentFrames,
  Pick<OpenStream<Chunk, Full>, 'state'>
>

/** The fields of a `Context` that every response needs. */
export type AnswerContext = Pick<
  Context<unknown>,
  'id' | 'order' | 'startedAt' | 'successor' | 'inspection' | 'inParts'
> & {
  readonly meter: Tally
  /** Absent where nothing depends on the options of the model. */
  readonly model?: Model
}

interface Countable {
  readonly usage?: Usage
}

/**
 * Converts what a provider returned to a whole response, whose usage it counts, or to a stream: resolves once the first
 * content has arrived. `maker`: puts the state of the response into envelopes with this name. Default: it stays as the
 * provider gave it.
 */
export function openAnswer<
  Chunk extends { choices?: readonly unknown[] },
  Full extends object,
  Whole extends Countable,
>(
  form: AnswerForm<Chunk, Full, Whole>,
  answer: AsyncIterable<Chunk | ContentFrames> | Whole | Verbatim<Whole>,
  call: Pick<Call<unknown>, 'model' | 'publicModel'>,
  context: AnswerContext,
  maker?: string,
): OpenAnswer<Chunk, Full, Whole> | Promise<OpenAnswer<Chunk, Full, Whole>> {
  const head = headFor(form.idPrefix, context)
  const renamed = call.publicModel !== call.model
  if (Symbol.asyncIterator in answer) {
    return begin(answer, form.state(head, renamed, maker), form.hasContent)
  }
  const value = answer instanceof Verbatim ? answer.value : answer
  const whole = readVendor(
    () => form.normalise(value, head, renamed, maker),
    () => readUsage(value.usage),
  )
  tell(context.meter, { usage: whole.usage, serviceTier: stringOf((whole as Fields)['service_tier']) })
  context.meter.watch?.answered(responseOf(whole))
  if (whole.usage === undefined) context.meter.textBytes = textInAnswer(whole)
  const untouched = answer instanceof Verbatim && whole === value
  return { kind: 'whole', body: whole, bytes: untouched ? answer.bytes : undefined }
}

function responseOf(whole: object): AnsweredResponse {
  const { id, choices } = whole as { id?: string; choices?: readonly { readonly finish_reason?: string | null }[] }
  const finishReasons: string[] = []
  for (const { finish_reason: reason } of choices ?? []) if (typeof reason === 'string') finishReasons.push(reason)
  return { id, finishReasons }
}

/** The non-streaming reply: the vendor's own bytes if nothing had to change, else the response with its usage. */
export function wholeReply(answer: OpenAnswer<unknown, object, Countable>, { order, meter }: AnswerContext): Reply {
  const { body } = wholeOf(answer)
  if (body.usage !== undefined) return replyOf(answer)
  return jsonReply({ ...body, usage: usageOf(order.promptTokens, estimateTokens(meter.textBytes)) })
}

/** The frames of a streamed response. `ahead`: the opening frame was already sent. */
export function framesOf<Chunk, Full extends object>(
  answer: OpenAnswer<Chunk, Full, unknown>,
  context: AnswerContext,
  ahead: boolean = false,
): AsyncIterable<string | Uint8Array> {
  return chunkFrames(streamOf(answer), context, ahead)
}

/** The frames that keep a stream open while the provider sends nothing. */
export function keepAliveFrames<Chunk, Full extends object, Whole>(form: AnswerForm<Chunk, Full, Whole>) {
  const unknown = (context: AnswerContext) => form.state(headFor(form.idPrefix, context), true)
  return {
    idle(answer: OpenAnswer<Chunk, Full, Whole> | undefined, context: AnswerContext): string {
      const state = answer?.kind === 'stream' ? answer.state : unknown(context)
      return frameOf(state.idle(), context.order)
    },
    opening: (context: AnswerContext): string => frameOf(unknown(context).open(), context.order),
  }
}

/** The head for responses whose vendor does not identify them. */
export function headFor(prefix: string, { id, startedAt, order }: AnswerContext): AnswerHead {
  return { id: id.replace('req_', prefix), created: Math.floor(startedAt / 1000), model: order.model }
}
